"""The disk probe: its file, its refusals, its stopping. No clock is judged."""

import errno
import itertools
import mmap
import os
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from advisor.failures import ProbeError
from advisor.probes import host, measurement
from advisor.probes.disk import direct_reads, read_rates, test_file
from advisor.probes.measurement import ProbeStep
from advisor.units import GB

BLOCK = 2**16


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny blocks and windows, and a drive even where the tests' folder is in memory.

    The clock ticks when it is looked at, so that no busy machine makes it late.
    """
    ticks = itertools.count()
    monkeypatch.setattr(measurement, "now", lambda: next(ticks) * 1e-5)
    monkeypatch.setattr(read_rates, "DIRECT", ((BLOCK, 4), (BLOCK, 1), (BLOCK // 4, 2)))
    monkeypatch.setattr(read_rates, "THROUGH_CACHE", ((BLOCK, 2), (BLOCK, 1)))
    monkeypatch.setattr(read_rates, "CHUNK", BLOCK)
    monkeypatch.setattr(read_rates, "SHORTEST", 0.0005)
    monkeypatch.setattr(test_file, "BLOCK", BLOCK)
    monkeypatch.setattr(test_file, "SYNC", 4 * BLOCK)
    monkeypatch.setattr(test_file, "filesystem", lambda _: "ext4")


NAMES = ["disk_read_direct", "disk_read_mmap", "disk_read_buffered"]


def open_files() -> int:
    folder = Path("/proc/self/fd")
    if folder.is_dir():
        return len(list(folder.iterdir()))
    return 0


def test_a_folder_gets_a_file_that_is_gone_after(tmp_path):
    told: list[ProbeStep] = []
    measurements = read_rates.measure(0.1, told.append, path=tmp_path, file_bytes=16 * BLOCK)
    assert [item.name for item in measurements] == NAMES
    for read in measurements:
        assert read.value > 0
        assert read.unit == "B/s"
        assert f"own file of 0.00 GB in {tmp_path} on ext4" in read.note
    assert list(tmp_path.iterdir()) == []
    shares = [step.share for step in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {"writing a test file", "direct reads, 64 KB x 4"} <= {step.doing for step in told}


def test_the_curve_goes_by_block_and_queue_depth(tmp_path):
    direct, _, buffered = read_rates.measure(0.1, path=tmp_path, file_bytes=16 * BLOCK)
    assert {(point.block, point.threads) for point in direct.curve} == set(read_rates.DIRECT)
    assert {(point.block, point.threads) for point in buffered.curve} == set(
        read_rates.THROUGH_CACHE
    )
    assert direct.value == max(point.value for point in direct.curve)
    assert (direct.value, direct.threads) in {
        (entry.value, entry.threads) for entry in direct.curve
    }


def test_a_map_is_read_as_llama_cpp_reads_it(tmp_path, monkeypatch):
    # Chunks of 64 rows in turns, by as many threads as the machine has cores.
    monkeypatch.setattr(read_rates, "CHUNK", BLOCK // 2)
    _, mapped, _ = read_rates.measure(0.1, path=tmp_path, file_bytes=16 * BLOCK)
    (point,) = mapped.curve
    assert (point.block, point.threads) == (BLOCK // 2, host.facts().cores)


def test_little_time_measures_the_most_important_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(read_rates, "SHORTEST", 60.0)
    direct, *_ = read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert [(point.block, point.threads) for point in direct.curve] == [read_rates.DIRECT[0]]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_cancelling_gives_nothing_and_leaves_nothing(tmp_path, share):
    before = open_files()
    told: list[ProbeStep] = []
    measurements = read_rates.measure(
        0.05, told.append, lambda: told[-1].share >= share, path=tmp_path, file_bytes=16 * BLOCK
    )
    assert measurements == ()
    assert list(tmp_path.iterdir()) == []
    assert open_files() == before


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_an_interruption_leaves_nothing(tmp_path, share):
    before = open_files()

    def interrupt(step: ProbeStep) -> None:
        if step.share >= share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_rates.measure(0.05, interrupt, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []
    assert open_files() == before


def test_a_drive_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(test_file.os, "write", full)
    with pytest.raises(ProbeError, match=r"cannot hold a test file \(No space left"):
        read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_nothing(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(direct_reads, "_read_until", broken)
    with pytest.raises(ProbeError, match="stopped answering"):
        read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "option"), [(errno.EMFILE, "-n"), (errno.ENOMEM, "-v")])
def test_limits_of_this_process_are_reported(tmp_path, monkeypatch, number, option):
    def none_left(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(direct_reads, "_read_until", none_left)
    with pytest.raises(ProbeError, match=rf"what 4 readers need \(.*\(ulimit {option}\)"):
        read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)


def test_threads_that_cannot_be_started_are_reported(tmp_path, monkeypatch):
    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(direct_reads.ThreadPoolExecutor, "submit", refused)
    with pytest.raises(ProbeError, match=r"4 threads cannot be started.*ulimit -u"):
        read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)


def test_a_way_that_fails_leaves_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(direct_reads, "_mapping", refuse_to_map)
    direct, through_cache = read_rates.measure(0.1, path=tmp_path, file_bytes=16 * BLOCK)
    assert (direct.name, through_cache.name) == ("disk_read_direct", "disk_read_buffered")
    assert direct.note.endswith("The file cannot be mapped.")
    assert "cannot be mapped" not in through_cache.note


def refuse_to_map(_):
    raise ProbeError("The file cannot be mapped.")


def test_a_file_that_cannot_be_mapped_is_reported(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    path = tmp_path / "model.gguf"
    path.write_bytes(b"x" * BLOCK)
    monkeypatch.setattr(direct_reads.mmap, "mmap", refused)
    with pytest.raises(ProbeError, match=r"cannot be mapped into memory \(Cannot.*ulimit -v"):
        direct_reads._mapping(test_file.existing(path))


def test_a_named_file_is_removed_where_files_need_names(tmp_path, monkeypatch):
    monkeypatch.setattr(test_file, "operating_system", lambda: "freebsd")
    assert read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert list(tmp_path.iterdir()) == []


def test_the_test_file_cannot_be_compressed(tmp_path):
    with (
        test_file.temporary(tmp_path, 16 * BLOCK, 1.0, lambda _: False) as file,
        file.path.open("rb") as opened,
    ):
        data = opened.read()
    assert len(data) == file.size == 16 * BLOCK
    assert len(zlib.compress(data)) > 0.99 * len(data)


def test_the_test_file_takes_a_quarter_of_the_free_space_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(test_file, "LEAST_FREE", 0)
    monkeypatch.setattr(test_file.shutil, "disk_usage", lambda _: SimpleNamespace(free=33 * BLOCK))
    with test_file.temporary(tmp_path, 16 * BLOCK, 1.0, lambda _: False) as file:
        assert file.size == 8 * BLOCK


def test_a_slow_drive_gets_a_smaller_file(tmp_path):
    with test_file.temporary(tmp_path, 64 * BLOCK, 0.0, lambda _: False) as file:
        assert file.size == test_file.SYNC


def test_an_existing_file_is_read_and_not_changed(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(os.urandom(10 * BLOCK + 7))
    path.chmod(0o400)
    before = path.read_bytes()
    stat = path.stat()
    measurements = read_rates.measure(0.05, path=path)
    assert len(measurements) == 3
    assert "Read a file" in measurements[0].note
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_smaller_than_a_block_is_refused(tmp_path):
    path = tmp_path / "small"
    path.write_bytes(b"x" * 100)
    with pytest.raises(ProbeError, match="give a larger file"):
        read_rates.measure(path=path)


@pytest.mark.parametrize("name", ["none", "loop", "x" * 300, "small/inside"])
def test_a_path_that_cannot_be_is_reported(tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "small").write_bytes(b"x")
    with pytest.raises(ProbeError, match=r"cannot be accessed \(.*give a folder or file that"):
        read_rates.measure(path=tmp_path / name)


def test_a_folder_that_may_not_be_seen_is_reported(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", refused)
    with pytest.raises(ProbeError, match=r"cannot be accessed \(Permission denied\)"):
        read_rates.measure(path=tmp_path / "hidden")


def test_blocks_that_wait_at_once_stay_within_free_memory(tmp_path, monkeypatch):
    facts = host.facts()
    few = replace(facts, memory_available=4 * 2 * BLOCK)  # a quarter holds two blocks
    monkeypatch.setattr(read_rates.host, "facts", lambda: few)
    direct, *_ = read_rates.measure(0.1, path=tmp_path, file_bytes=16 * BLOCK)
    assert {(entry.block, entry.threads) for entry in direct.curve} == {(BLOCK, 1), (BLOCK // 4, 2)}
    monkeypatch.setattr(read_rates.host, "facts", lambda: replace(facts, memory_available=0))
    direct, *_ = read_rates.measure(0.1, path=tmp_path, file_bytes=16 * BLOCK)
    assert [(entry.block, entry.threads) for entry in direct.curve] == [(BLOCK // 4, 2)]


@pytest.mark.parametrize("kind", sorted(test_file.MEMORY_FILESYSTEMS))
def test_memory_is_not_a_drive(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(test_file, "filesystem", lambda _: kind)
    with pytest.raises(ProbeError, match=f"lies on {kind}, which is memory"):
        read_rates.measure(path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_nearly_full_drive_is_reported(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=int(6.1 * GB))
    monkeypatch.setattr(test_file.shutil, "disk_usage", lambda _: usage)
    direct, *_ = read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert "Only 6.1 GB are free there" in direct.note


@pytest.mark.parametrize("kind", ["overlay", "nfs4", "zfs", "9p"])
def test_file_systems_that_are_not_one_drive_are_reported(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(test_file, "filesystem", lambda _: kind)
    direct, *_ = read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert f"on {kind}, {test_file.OTHERS[kind]}." in direct.note


def test_pages_kept_by_another_program_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(direct_reads, "still_cached", lambda _: 0.4)
    direct, mapped, buffered = read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert "40% of the file stayed in memory" in mapped.note
    assert "40% of the file stayed in memory" in buffered.note
    assert "stayed in memory" not in direct.note


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="Linux only")
def test_the_page_cache_is_looked_into(tmp_path):
    path = tmp_path / "model.gguf"
    with path.open("wb") as opened:
        opened.write(os.urandom(64 * BLOCK))
        opened.flush()
        os.fsync(opened.fileno())  # pages that wait to be written cannot be dropped
    file = test_file.existing(path)
    # What a program has mapped and touched cannot be dropped either, whoever asks.
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as memory:
        assert len({memory[at] for at in range(0, len(memory), mmap.PAGESIZE)}) > 1
        kept = direct_reads.still_cached(file)
    if not kept:
        pytest.skip("this file system does not tell")
    assert kept > 0.9
    assert direct_reads.still_cached(file) < 0.5


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="Linux only")
def test_looking_into_the_page_cache_fetches_nothing_beside(tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    path.write_bytes(bytes(16 * BLOCK))
    advised = []
    monkeypatch.setattr(direct_reads, "forget", lambda _: None)
    monkeypatch.setattr(direct_reads, "_in_memory", lambda *_: bool(advised))
    monkeypatch.setattr(direct_reads.os, "posix_fadvise", lambda *told: advised.append(told[1:]))
    assert direct_reads.still_cached(test_file.existing(path)) == 1.0
    assert advised == [(0, 0, os.POSIX_FADV_RANDOM)]


def test_too_little_room_is_refused(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=int(0.4 * GB))
    monkeypatch.setattr(test_file.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ProbeError, match=r"0.40 GB free and a test file needs 1 GB"):
        read_rates.measure(path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ProbeError, match="give a folder or file that exists"):
        read_rates.measure(path=tmp_path / "no" / "where")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(test_file.tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(test_file.tempfile, "mkstemp", refused)
    with pytest.raises(ProbeError, match="cannot hold a test file"):
        read_rates.measure(path=tmp_path)


def test_a_file_system_without_direct_reads_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(direct_reads, "_reads", lambda _: False)
    direct, *_ = read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert "refuses O_DIRECT" in direct.note


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_refusals_of_direct_reads(code):
    def refused() -> int:
        raise OSError(code, "refused")

    assert direct_reads._reads(refused) is False


def test_other_trouble_is_no_refusal_of_direct_reads():
    def broken() -> int:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(ProbeError, match="Input/output error"):
        direct_reads._reads(broken)


def test_windows_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(read_rates, "operating_system", lambda: "win32")
    with pytest.raises(ProbeError, match="by hand"):
        read_rates.measure(path=tmp_path)


def test_the_data_folder_is_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "new"))
    assert len(read_rates.measure(0.05, file_bytes=16 * BLOCK)) == 3
    assert list((tmp_path / "new").iterdir()) == []


def test_a_home_that_cannot_be_written_has_a_stand_in(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file" / "inside"))
    writable = tmp_path / "temporary"
    writable.mkdir()
    monkeypatch.setattr(test_file.tempfile, "gettempdir", lambda: str(writable))
    monkeypatch.setattr(test_file.os, "access", lambda path, _: path == writable)
    assert test_file.default_folder() == writable


def test_no_folder_at_all_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "home"))
    monkeypatch.setattr(test_file.os, "access", lambda *_: False)
    with pytest.raises(ProbeError, match="give a folder or a model file to read"):
        read_rates.measure()


def test_remains_of_a_killed_probe_are_removed_where_files_need_names(tmp_path, monkeypatch):
    monkeypatch.setattr(test_file, "operating_system", lambda: "freebsd")
    old, fresh, other = (
        tmp_path / name for name in (f"{test_file.NAMED}old", f"{test_file.NAMED}new", "model")
    )
    for path in (old, fresh, other):
        path.write_text("")
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    assert read_rates.measure(0.05, path=tmp_path, file_bytes=16 * BLOCK)
    assert sorted(tmp_path.iterdir()) == sorted([fresh, other])


@pytest.mark.skipif(sys.platform != "linux", reason="files without names")
def test_a_kill_leaves_nothing(tmp_path):
    code = (
        "import sys; from pathlib import Path; from advisor.probes.disk import test_file\n"
        "with test_file.temporary(Path(sys.argv[1]), 2**26, 9.0, lambda _: False) as file:\n"
        "    print(file.size, flush=True); sys.stdin.read()\n"
    )
    root = Path(test_file.__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert int(child.stdout.readline()) > 0
        child.kill()
    assert list(tmp_path.iterdir()) == []


def test_the_file_system_of_the_innermost_mount(monkeypatch, tmp_path):
    monkeypatch.undo()
    mounts = [("/", "ext4"), (str(tmp_path), "ext3"), (str(tmp_path), "tmpfs"), ("/no", "xfs")]
    namespaces = [SimpleNamespace(mountpoint=point, fstype=kind) for point, kind in mounts]
    monkeypatch.setattr(test_file.psutil, "disk_partitions", lambda **_: namespaces)
    assert test_file.filesystem(tmp_path / "inside") == "tmpfs"
    assert test_file.filesystem(tmp_path.parent) == "ext4"


def test_no_folder_at_all_is_told(monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(test_file.tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(test_file.os, "access", lambda *_: False)
    with pytest.raises(ProbeError, match="give a folder or a model file to read"):
        test_file.default_folder()
    with pytest.raises(ProbeError, match=r"Nowhere can temporary files be written.*set TMPDIR"):
        test_file.temporary_folder()
