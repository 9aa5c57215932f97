"""GPUs as a pretended driver, sysfs or sysctl shows them."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from advisor.probes import gpu
from advisor.units import GIB


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


NOT_SUPPORTED, NO_PERMISSION, LIBRARY_NOT_FOUND, NOT_LOADED, LOST = 3, 4, 12, 9, 15
ANSWERS = {
    "nvmlSystemGetDriverVersion": "580.95.05",
    "nvmlDeviceGetCount": 1,
    "nvmlDeviceGetHandleByIndex": "card",
    "nvmlDeviceGetName": "NVIDIA GeForce RTX 4090",
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=24 * 2**30, free=23 * 2**30),
    "nvmlDeviceGetCurrPcieLinkGeneration": 1,
    "nvmlDeviceGetMaxPcieLinkGeneration": 4,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetEnforcedPowerLimit": 450_000,
    "nvmlDeviceGetMigMode": NVMLError(NOT_SUPPORTED),
    "nvmlDeviceGetMaxMigDeviceCount": NVMLError(NOT_SUPPORTED),
    "nvmlDeviceGetMigDeviceHandleByIndex": NVMLError(NOT_SUPPORTED),
    "nvmlInit": None,
    "nvmlShutdown": None,
}


def answer(given):
    def asked(*about):
        found = given(*about) if callable(given) else given
        if isinstance(found, Exception):
            raise found
        return found

    return asked


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Install a pretended pynvml; call with answers that differ from ANSWERS."""

    def install(**changes):
        module = ModuleType("pynvml")
        module.NVMLError = NVMLError
        module.NVML_ERROR_NO_PERMISSION = NO_PERMISSION
        module.NVML_ERROR_LIBRARY_NOT_FOUND = LIBRARY_NOT_FOUND
        module.NVML_ERROR_DRIVER_NOT_LOADED = NOT_LOADED
        for name, given in (ANSWERS | changes).items():
            setattr(module, name, answer(given))
        monkeypatch.setitem(sys.modules, "pynvml", module)
        return gpu.gpus(tmp_path)

    return install


def test_an_answering_driver(driver):
    (found,), notes = driver()
    assert found == gpu.GpuFacts(
        name="NVIDIA GeForce RTX 4090",
        vendor="NVIDIA",
        memory_total=24 * 2**30,
        memory_free=23 * 2**30,
        link_generation_now=1,
        link_generation_max=4,
        link_width_now=8,
        link_width_max=16,
        power_limit=450.0,
        driver="580.95.05",
    )
    assert notes == ()


def test_the_link_takes_the_best_generation_and_the_lanes_in_use(driver):
    (found,), _ = driver()
    assert found.link == (4, 8)


def test_a_driver_that_supports_nothing_still_names_the_gpu(driver):
    keep = {"nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"}
    (found,), notes = driver(**{name: NVMLError(NOT_SUPPORTED) for name in ANSWERS.keys() - keep})
    assert found == gpu.GpuFacts(name="NVIDIA GPU", vendor="NVIDIA")
    assert found.link is None
    assert "does not tell its memory" in notes[0]


def test_names_as_bytes_from_old_bindings(driver):
    (found,), _ = driver(nvmlDeviceGetName=b"Tesla V100", nvmlSystemGetDriverVersion=b"470.1")
    assert (found.name, found.driver) == ("Tesla V100", "470.1")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (LIBRARY_NOT_FOUND, "No NVIDIA driver is running"),
        (NOT_LOADED, "No NVIDIA driver is running"),
        (NO_PERMISSION, "no permission"),
        (999, "does not answer (NVML error 999)"),
    ],
)
def test_a_driver_that_refuses_is_a_sentence(driver, code, words):
    found, (note,) = driver(nvmlInit=NVMLError(code))
    assert found == ()
    assert words in note


def test_permission_lost_after_the_start(driver):
    found, (note,) = driver(nvmlDeviceGetCount=NVMLError(NO_PERMISSION))
    assert found == ()
    assert "no permission" in note


def test_no_gpu_behind_the_driver(driver):
    assert driver(nvmlDeviceGetCount=0) == ((), ("The NVIDIA driver runs but shows no GPU.",))


def test_one_lost_gpu_does_not_hide_the_other(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x10de", device="0x2684")
    handles = {0: "card", 1: NVMLError(LOST)}
    found, (note,) = driver(nvmlDeviceGetCount=2, nvmlDeviceGetHandleByIndex=handles.get)
    assert len(found) == 1
    assert note.startswith("1 NVIDIA GPU(s) did not answer")


def test_parts_of_a_gpu_have_their_own_memory(driver):
    memory = {"part": SimpleNamespace(total=10 * 2**30, free=9 * 2**30)}
    found, notes = driver(
        nvmlDeviceGetMigMode=[1, 1],
        nvmlDeviceGetMaxMigDeviceCount=7,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, n: "part" if n < 2 else NVMLError(6),
        nvmlDeviceGetName="NVIDIA A100 MIG 1g.10gb",
        nvmlDeviceGetMemoryInfo=memory.get,
    )
    assert [one.memory_total for one in found] == [10 * GIB, 10 * GIB]
    assert found[0].link == (4, 8)
    assert "a part of a GPU" in notes[0]


def test_a_missing_package_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    found, (note,) = gpu.gpus(tmp_path)
    assert found == ()
    assert "nvidia-ml-py is missing" in note


def sysfs(root: Path, card: str, port: dict[str, str] | None = None, **files: str) -> None:
    """A card behind a root port and a switch of its own, as AMD and Intel build them."""
    slot = root / f"sys/devices/pci0000:00/0000:00:01.{card[4:]}"
    switch = slot / "0000:01:00.0"
    device = switch / "0000:02:00.0"
    device.mkdir(parents=True)
    for folder, given in ((slot, port or {}), (switch, {}), (device, files)):
        for name, text in given.items():
            (folder / name).write_text(text + "\n")
    (root / "sys/class/drm" / card).mkdir(parents=True)
    (root / "sys/class/drm" / card / "device").symlink_to(device)
    (root / "sys/class/drm" / f"{card}-DP-1").mkdir()


def test_amd_by_sysfs_with_the_link_of_the_slot(driver, tmp_path):
    port = {
        "current_link_speed": "2.5 GT/s PCIe",
        "max_link_speed": "16.0 GT/s PCIe",
        "current_link_width": "8",
        "max_link_width": "16",
    }
    sysfs(
        tmp_path,
        "card1",
        port,
        vendor="0x1002",
        device="0x744c",
        mem_info_vram_total=str(24 * 2**30),
        mem_info_vram_used=str(2**30),
        current_link_speed="32.0 GT/s PCIe",
        current_link_width="16",
    )
    ids = tmp_path / "usr/share/misc/pci.ids"
    ids.parent.mkdir(parents=True)
    ids.write_text(
        "1001  Other\n\t744c  Wrong\n1002  Advanced Micro Devices\n\t0001  No\n"
        "\t744c  Navi 31 [Radeon RX 7900 XTX]\n\t\t1da2 e471  NITRO+\n1003  Third\n"
    )
    (found,), notes = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert (found.name, found.vendor) == ("Navi 31 [Radeon RX 7900 XTX]", "AMD")
    assert (found.memory_total, found.memory_free) == (24 * GIB, 23 * GIB)
    assert found.link == (4, 8)
    assert notes == ()


def test_intel_has_an_identity_and_a_note_about_memory(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x8086", device="0xe20b")
    (found,), (note,) = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert (found.name, found.vendor, found.memory_total) == ("GPU 8086:e20b", "Intel", None)
    assert "choose it by hand" in note


def test_an_nvidia_card_without_a_driver_is_told_beside_others(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x8086", device="0x4680")
    sysfs(tmp_path, "card1", vendor="0x10de", device="0x2684")
    _, notes = driver(nvmlInit=NVMLError(NOT_LOADED))
    assert notes[0].startswith("No NVIDIA driver")


def test_displays_of_virtual_machines_are_no_gpus(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x1234", device="0x1111")
    assert driver(nvmlDeviceGetCount=0)[0] == ()


def test_apple_shares_memory_with_the_host(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "operating_system", lambda: "darwin")
    monkeypatch.setattr(gpu.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(gpu, "command", lambda *_: "Apple M4 Max")
    monkeypatch.setattr(gpu, "sysctl", {"hw.memsize": 64 * 2**30}.get)
    (found,), (note,) = gpu.gpus(tmp_path)
    assert (found.name, found.vendor, found.unified) == ("Apple M4 Max", "Apple", True)
    assert found.memory_total == 64 * GIB
    assert "share one memory" in note


def test_a_mac_with_an_intel_processor(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "operating_system", lambda: "darwin")
    monkeypatch.setattr(gpu.platform, "machine", lambda: "x86_64")
    found, (note,) = gpu.gpus(tmp_path)
    assert found == ()
    assert "Intel" in note


def test_this_machine_never_raises():
    found, notes = gpu.gpus()
    assert found or notes
