"""The disk probe: its file, its refusals, its stopping. No clock is judged."""

import errno
import os
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from advisor.errors import ProbeError
from advisor.probes import disk, drive_file
from advisor.units import GB

BLOCK = 2**16


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny blocks and windows, and a drive even where the tests' folder is in memory."""
    monkeypatch.setattr(disk, "BLOCK", BLOCK)
    monkeypatch.setattr(drive_file, "BLOCK", BLOCK)
    monkeypatch.setattr(drive_file, "SYNC", 4 * BLOCK)
    monkeypatch.setattr(drive_file, "filesystem", lambda _: "ext4")


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_a_folder_gets_a_file_that_is_gone_after(tmp_path):
    told: list[float] = []
    found = disk.measure(0.05, told.append, path=tmp_path, file_bytes=16 * BLOCK)
    assert [one.name for one in found] == ["disk_read_direct", "disk_read_mmap"]
    for one in found:
        assert one.value > 0
        assert one.unit == "B/s"
        assert "own file" in one.note
    assert found[0].threads in disk.DIRECT_THREADS
    assert list(tmp_path.iterdir()) == []
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("after", [0, 3, 18, 25])
def test_cancelling_gives_nothing_and_leaves_nothing(tmp_path, after):
    before = open_files()
    asked = iter([False] * after + [True] * 100)
    found = disk.measure(0.05, cancelled=lambda: next(asked), path=tmp_path, file_bytes=16 * BLOCK)
    assert found == ()
    assert list(tmp_path.iterdir()) == []
    assert open_files() == before


def test_an_error_leaves_nothing(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk, "_read_until", broken)
    with pytest.raises(ProbeError, match="stopped answering"):
        disk.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []


def test_a_named_file_is_removed_where_files_need_names(tmp_path, monkeypatch):
    monkeypatch.setattr(drive_file, "operating_system", lambda: "freebsd")
    assert disk.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []


def test_the_test_file_cannot_be_compressed(tmp_path):
    with (
        drive_file.temporary(tmp_path, 16 * BLOCK, 1.0, lambda _: False) as file,
        file.path.open("rb") as opened,
    ):
        data = opened.read()
    assert len(data) == file.size == 16 * BLOCK
    assert len(zlib.compress(data)) > 0.99 * len(data)


def test_the_test_file_takes_a_quarter_of_the_free_space_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(drive_file, "LEAST_FREE", 0)
    monkeypatch.setattr(drive_file.shutil, "disk_usage", lambda _: SimpleNamespace(free=33 * BLOCK))
    with drive_file.temporary(tmp_path, 16 * BLOCK, 1.0, lambda _: False) as file:
        assert file.size == 8 * BLOCK


def test_a_slow_drive_gets_a_smaller_file(tmp_path):
    with drive_file.temporary(tmp_path, 64 * BLOCK, 0.0, lambda _: False) as file:
        assert file.size == drive_file.SYNC


def test_an_existing_file_is_read_and_not_changed(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(os.urandom(10 * BLOCK + 7))
    path.chmod(0o400)
    before, stat = path.read_bytes(), path.stat()
    found = disk.measure(0.05, path=path)
    assert len(found) == 2
    assert "Read a file" in found[0].note
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_smaller_than_a_block_is_refused(tmp_path):
    path = tmp_path / "small"
    path.write_bytes(b"x" * 100)
    with pytest.raises(ProbeError, match="give a larger file"):
        disk.measure(path=path)


@pytest.mark.parametrize("kind", sorted(drive_file.MEMORY_FILESYSTEMS))
def test_memory_is_not_a_drive(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(drive_file, "filesystem", lambda _: kind)
    with pytest.raises(ProbeError, match=f"lies on {kind}, which is memory"):
        disk.measure(path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_too_little_room_is_refused(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=int(0.4 * GB))
    monkeypatch.setattr(drive_file.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ProbeError, match=r"0.40 GB free and a test file needs 1 GB"):
        disk.measure(path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ProbeError, match="give a folder or file that exists"):
        disk.measure(path=tmp_path / "no" / "where")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(drive_file.tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(drive_file.tempfile, "mkstemp", refused)
    with pytest.raises(ProbeError, match="cannot hold a test file"):
        disk.measure(path=tmp_path)


def test_a_file_system_without_direct_reads_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_reads", lambda _: False)
    direct, _ = disk.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert "refuses O_DIRECT" in direct.note


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_refusals_of_direct_reads(code):
    def refused() -> int:
        raise OSError(code, "refused")

    assert disk._reads(refused) is False


def test_other_trouble_is_no_refusal_of_direct_reads():
    def broken() -> int:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(ProbeError, match="Input/output error"):
        disk._reads(broken)


def test_windows_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "operating_system", lambda: "win32")
    with pytest.raises(ProbeError, match="by hand"):
        disk.measure(path=tmp_path)


def test_the_data_folder_is_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "new"))
    assert len(disk.measure(0.05, file_bytes=16 * BLOCK)) == 2
    assert list((tmp_path / "new").iterdir()) == []


def test_the_file_system_of_the_innermost_mount(monkeypatch, tmp_path):
    monkeypatch.undo()
    mounts = [("/", "ext4"), (str(tmp_path), "ext3"), (str(tmp_path), "tmpfs"), ("/no", "xfs")]
    found = [SimpleNamespace(mountpoint=point, fstype=kind) for point, kind in mounts]
    monkeypatch.setattr(drive_file.psutil, "disk_partitions", lambda **_: found)
    assert drive_file.filesystem(tmp_path / "inside") == "tmpfs"
    assert drive_file.filesystem(tmp_path.parent) == "ext4"
