"""The host probe's reading of /proc and /sys, on trees written by hand."""

from pathlib import Path

import psutil
import pytest

from advisor.probes import host
from advisor.probes import host as cgroup
from advisor.units import GIB, MIB


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def two_sockets(root: Path) -> Path:
    """8 logical processors: 2 sockets of 2 cores of 2 threads, one 16 MiB cache per socket."""
    files = {
        "proc/cpuinfo": "model name\t: Xeon Example\nflags\t\t: fpu avx2 avx512f amx_int8 ht\n",
        "etc/os-release": 'NAME="X"\nPRETTY_NAME="Example Linux 1"\n',
        "sys/devices/system/node/node0/cpulist": "0-3\n",
        "sys/devices/system/node/node1/cpulist": "4-7\n",
        "sys/devices/system/node/node2/cpulist": "\n",
    }
    for cpu in range(8):
        folder = f"sys/devices/system/cpu/cpu{cpu}"
        socket = cpu // 4
        files |= {
            f"{folder}/topology/core_cpus_list": f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n",
            f"{folder}/topology/physical_package_id": f"{socket}\n",
            f"{folder}/cache/index0/level": "1\n",
            f"{folder}/cache/index0/size": "32K\n",
            f"{folder}/cache/index0/shared_cpu_list": f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n",
            f"{folder}/cache/index3/level": "3\n",
            f"{folder}/cache/index3/size": "16384K\n",
            f"{folder}/cache/index3/shared_cpu_list": f"{socket * 4}-{socket * 4 + 3}\n",
        }
    return write(root, files)


@pytest.fixture
def affinity(monkeypatch: pytest.MonkeyPatch):
    def allow(*cpus: int) -> None:
        monkeypatch.setattr(host, "operating_system", lambda: "linux")
        monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: set(cpus), raising=False)

    return allow


def test_two_sockets_are_read_from_sysfs(tmp_path, affinity):
    affinity(*range(8))
    facts = host.facts(two_sockets(tmp_path))
    assert facts.name == "Xeon Example"
    assert (facts.cores, facts.sockets) == (4, 2)
    assert host.nodes(tmp_path) == (
        host.Node(cpus=frozenset({0, 1, 2, 3}), cores=2),
        host.Node(cpus=frozenset({4, 5, 6, 7}), cores=2),
    )
    assert facts.llc == 2 * 16 * MIB
    assert facts.instruction_sets == {"avx2", "avx512f", "amx_int8"}
    assert facts.os.startswith("Example Linux 1, ")
    assert facts.notes == ()


def test_affinity_leaves_one_socket_and_its_cache(tmp_path, affinity):
    affinity(4, 5, 6)
    facts = host.facts(two_sockets(tmp_path))
    assert (facts.cores, facts.sockets) == (2, 1)
    assert host.nodes(tmp_path) == (host.Node(cpus=frozenset({4, 5, 6}), cores=2),)
    assert facts.llc == 16 * MIB


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "350000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 4),
        (
            # The limit of a slice holds for the service inside it.
            {
                "proc/self/cgroup": "0::/a.slice/b.service\n",
                "sys/fs/cgroup/a.slice/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/a.slice/b.service/cpu.max": "max 100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/box\n0::/\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
    ],
)
def test_a_container_limits_cores(tmp_path, affinity, files, cores):
    affinity(*range(8))
    assert host.facts(write(two_sockets(tmp_path), files)).cores == cores


def test_the_limit_of_processors_is_reported(tmp_path, affinity):
    affinity(*range(8))
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "350000 100000\n"}
    assert "3.5 processors" in host.facts(write(two_sockets(tmp_path), files)).notes[0]


def test_memory_version_2_leaves_out_cache_the_kernel_would_drop(tmp_path):
    files = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": f"{GIB:.0f}\n",
        "sys/fs/cgroup/memory.current": f"{600 * MIB:.0f}\n",
        "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {200 * MIB:.0f}\n",
    }
    root = write(tmp_path, files)
    # 1024 MiB - (600 - 200) MiB
    assert (cgroup.memory_limit(root), cgroup.memory_left(root)) == (GIB, 624 * MIB)
    facts = host.facts(root)
    assert facts.memory_total == min(GIB, psutil.virtual_memory().total)
    assert facts.memory_available <= 624 * MIB


def test_memory_version_1_and_its_way_to_say_no_limit(tmp_path):
    name = "sys/fs/cgroup/memory/box/memory.limit_in_bytes"
    root = write(tmp_path, {"proc/self/cgroup": "4:memory:/box\n", name: "9223372036854771712\n"})
    assert cgroup.memory_limit(root) is None
    write(root, {name: "1000\n", "sys/fs/cgroup/memory/box/memory.usage_in_bytes": "400\n"})
    assert (cgroup.memory_limit(root), cgroup.memory_left(root)) == (1000, 600)


def test_nothing_to_read_gives_notes_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "command", lambda *_: "")
    monkeypatch.setattr(host.platform, "processor", lambda: "")
    facts = host.facts(tmp_path)
    assert facts.cores >= 1
    assert facts.llc is None
    assert len(facts.notes) >= 3


def test_arm_names_come_from_lscpu(tmp_path, monkeypatch):
    cpuinfo = "processor\t: 0\nFeatures\t: fp asimd asimddp i8mm sve sha1\n"
    monkeypatch.setattr(host, "command", lambda *_: "Vendor ID: ARM\nModel name:   Neoverse-V2\n")
    facts = host.facts(write(tmp_path, {"proc/cpuinfo": cpuinfo}))
    assert facts.name == "Neoverse-V2"
    assert facts.instruction_sets == {"asimd", "asimddp", "i8mm", "sve"}


def test_a_mac_is_read_by_sysctl(tmp_path, monkeypatch):
    numbers = {"hw.perflevel0.l2cachesize": 16 * 2**20, "hw.optional.arm.FEAT_I8MM": 1}
    monkeypatch.setattr(host, "operating_system", lambda: "darwin")
    monkeypatch.setattr(host, "command", lambda *_: "Apple M4 Pro")
    monkeypatch.setattr(host, "sysctl", numbers.get)
    facts = host.facts(tmp_path)
    assert (facts.name, facts.llc) == ("Apple M4 Pro", 16 * MIB)
    assert facts.instruction_sets == {"i8mm"}
    assert facts.os.startswith("macOS")


def test_windows_falls_back_to_psutil(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "operating_system", lambda: "win32")
    monkeypatch.setattr(host, "_windows_name", lambda: "Ryzen Example")
    monkeypatch.setattr(host.psutil, "cpu_count", lambda logical=True: 16 if logical else 8)
    facts = host.facts(tmp_path)
    assert (facts.name, facts.cores, facts.sockets) == ("Ryzen Example", 8, 1)


def test_this_machine():
    facts = host.facts()
    assert facts.cores >= 1
    assert 0 < facts.memory_available <= facts.memory_total
    assert facts.instruction_sets <= host.INSTRUCTION_SETS
