"""GPUs as pretended drivers, sysfs, sysctl and system_profiler show them."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from advisor.machine.catalog import GPUS
from advisor.probes.gpu import detect
from advisor.probes.gpu import detect as apple
from advisor.probes.gpu import detect as nvml
from advisor.probes.gpu.detect import GpuFacts, GpuState, same_bus
from advisor.units import GIB, MIB


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


NOT_SUPPORTED = 3
NO_PERMISSION = 4
LIBRARY_NOT_FOUND = 12
NOT_LOADED = 9
LOST = 15
ANSWERS = {
    "nvmlSystemGetDriverVersion": "580.95.05",
    "nvmlDeviceGetCount": 1,
    "nvmlDeviceGetHandleByIndex": "card",
    "nvmlDeviceGetName": "NVIDIA GeForce RTX 4090",
    "nvmlDeviceGetMemoryInfo": lambda _, version=1: SimpleNamespace(
        total=24 * 2**30, used=(1 if version == 2 else 2) * 2**30
    ),
    "nvmlDeviceGetCurrPcieLinkGeneration": 1,
    "nvmlDeviceGetMaxPcieLinkGeneration": 4,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetEnforcedPowerLimit": 450_000,
    "nvmlDeviceGetMigMode": NVMLError(NOT_SUPPORTED),
    "nvmlDeviceGetMaxMigDeviceCount": NVMLError(NOT_SUPPORTED),
    "nvmlDeviceGetMigDeviceHandleByIndex": NVMLError(NOT_SUPPORTED),
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId="00000000:01:00.0"),
    "nvmlInit": None,
    "nvmlShutdown": None,
}
RUNNING = {
    "nvmlDeviceGetHandleByPciBusId": lambda bus: f"card at {bus.decode()}",
    "nvmlDeviceGetClockInfo": lambda _, kind: {1: 1980, 2: 10251}[kind],
    "nvmlDeviceGetPowerUsage": 449_200,
    # NVML's bits: power cap 0x4, hardware and software thermal slowdown 0x40 and 0x20
    "nvmlDeviceGetCurrentClocksEventReasons": 0x64,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x4,
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=98, memory=60),
    "nvmlDeviceGetCurrPcieLinkGeneration": 4,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetEnforcedPowerLimit": 450_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 600_000,
    "nvmlDeviceGetComputeRunningProcesses": [
        SimpleNamespace(pid=7, usedGpuMemory=6 * 2**30),
        SimpleNamespace(pid=8, usedGpuMemory=None),
    ],
}


def answer(given):
    def query(*about):
        if callable(given):
            result = given(*about)
        else:
            result = given
        if isinstance(result, Exception):
            raise result
        return result

    return query


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Install a pretended pynvml; call with answers that differ from ANSWERS."""

    def install(**changes):
        module = ModuleType("pynvml")
        module.NVMLError = NVMLError
        module.NVML_ERROR_NO_PERMISSION = NO_PERMISSION
        module.NVML_ERROR_LIBRARY_NOT_FOUND = LIBRARY_NOT_FOUND
        module.NVML_ERROR_DRIVER_NOT_LOADED = NOT_LOADED
        module.NVML_CLOCK_SM = 1
        module.NVML_CLOCK_MEM = 2
        module.nvmlMemory_v2 = 2
        for name, given in (ANSWERS | changes).items():
            setattr(module, name, answer(given))
        monkeypatch.setitem(sys.modules, "pynvml", module)
        return detect.gpus(tmp_path)

    return install


def test_an_answering_driver(driver):
    (result,), notes = driver()
    assert result == GpuFacts(
        name="NVIDIA GeForce RTX 4090",
        vendor="NVIDIA",
        memory_total=24 * 2**30,
        link_generation_now=1,
        link_generation_max=4,
        link_width_now=8,
        link_width_max=16,
        driver="580.95.05",
        bus="00000000:01:00.0",
    )
    assert notes == ()


def test_the_link_takes_the_best_generation_and_the_lanes_in_use(driver):
    (gpu,), _ = driver()
    assert gpu.link == (4, 8)


def test_a_driver_that_supports_nothing_still_names_the_gpu(driver):
    keep = {"nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"}
    (gpu,), notes = driver(**{name: NVMLError(NOT_SUPPORTED) for name in ANSWERS.keys() - keep})
    assert gpu == GpuFacts(name="NVIDIA GPU", vendor="NVIDIA")
    assert gpu.link is None
    assert "does not tell its memory" in notes[0]


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
    result, (note,) = driver(nvmlInit=NVMLError(code))
    assert result == ()
    assert words in note


def test_permission_lost_after_the_start(driver):
    result, (note,) = driver(nvmlDeviceGetCount=NVMLError(NO_PERMISSION))
    assert result == ()
    assert "no permission" in note


def test_no_gpu_behind_the_driver(driver):
    assert driver(nvmlDeviceGetCount=0) == ((), ("The NVIDIA driver runs but shows no GPU.",))


def test_one_lost_gpu_does_not_hide_the_other(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x10de", device="0x2684")
    handles = {0: "card", 1: NVMLError(LOST)}
    result, (note,) = driver(nvmlDeviceGetCount=2, nvmlDeviceGetHandleByIndex=handles.get)
    assert len(result) == 1
    assert note.startswith("1 NVIDIA GPU(s) did not answer")


def test_parts_of_a_gpu_have_their_own_memory(driver):
    memory = {"part": SimpleNamespace(total=10 * 2**30)}
    result, notes = driver(
        nvmlDeviceGetMigMode=[1, 1],
        nvmlDeviceGetMaxMigDeviceCount=7,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, n: "part" if n < 2 else NVMLError(6),
        nvmlDeviceGetName="NVIDIA A100 MIG 1g.10gb",
        nvmlDeviceGetMemoryInfo=memory.get,
    )
    assert [facts.memory_total for facts in result] == [10 * GIB, 10 * GIB]
    assert result[0].link == (4, 8)
    assert "a part of a GPU" in notes[0]


def test_a_missing_package_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    result, (note,) = detect.gpus(tmp_path)
    assert result == ()
    assert "nvidia-ml-py is missing" in note


class TestUnderLoad:
    """How an NVIDIA GPU runs at a moment."""

    def test_link_clocks_power_and_what_slows_it(self, driver):
        driver(**RUNNING)
        state = nvml.state("0000:01:00.0")
        assert state == GpuState(
            link_generation=4,
            link_width=8,
            clock=1.98e9,
            memory_clock=10.251e9,
            power=449.2,
            power_limit=450.0,
            usual_power=600.0,
            memory_used=2**30,
            held_by={7: 6 * 2**30},
            busy=0.98,
            slowed_by=("the power limit", "heat"),
        )
        assert state.sentence() == (
            "Under load: processors at 1980 MHz, memory at 10251 MHz, 449 of 450 W, "
            "slowed by the power limit and heat."
        )

    def test_drivers_that_count_their_own_memory_as_used(self, driver):
        def first_version(_, *version):
            if version:
                raise NVMLError(NOT_SUPPORTED)
            return SimpleNamespace(total=24 * 2**30, used=2 * 2**30)

        driver(**RUNNING | {"nvmlDeviceGetMemoryInfo": first_version})
        assert nvml.state("0000:01:00.0").memory_used == 2 * 2**30

    def test_idling_and_chosen_clocks_are_no_trouble(self, driver):
        driver(**RUNNING | {"nvmlDeviceGetCurrentClocksEventReasons": 0x1 | 0x2 | 0x100})
        assert nvml.state("0000:01:00.0").slowed_by == ()

    def test_drivers_that_know_the_older_name(self, driver):
        refused = NVMLError(NOT_SUPPORTED)
        driver(**RUNNING | {"nvmlDeviceGetCurrentClocksEventReasons": refused})
        assert nvml.state("0000:01:00.0").slowed_by == ("the power limit",)

    def test_a_driver_that_supports_nothing(self, driver):
        refused = {name: NVMLError(NOT_SUPPORTED) for name in (*RUNNING, "nvmlDeviceGetMemoryInfo")}
        driver(**refused | {"nvmlDeviceGetHandleByPciBusId": "card"})
        state = nvml.state("0000:01:00.0")
        assert state == GpuState()
        assert state.sentence() == ""

    def test_an_address_that_nvml_does_not_know(self, driver):
        driver(**RUNNING | {"nvmlDeviceGetHandleByPciBusId": NVMLError(6)})
        assert nvml.state("0000:99:00.0") is None

    def test_no_nvml(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pynvml", None)
        assert nvml.state("0000:01:00.0") is None


RECORDED = json.loads(
    (Path(__file__).parents[1] / "samples/nvml-h100-2026-11-27.json").read_text("utf-8")
)
"""What the driver of an H100 answered."""
RESERVED = 480 * MIB
"""Of its memory, as nvidia-smi told."""


def recorded(moment: str) -> dict[str, object]:
    """Answers of the pretended driver as they were recorded."""
    told = RECORDED[moment]
    memory = told["DeviceGetMemoryInfo"]
    clocks = {1: told["clockSM"], 2: told["clockMEM"]}
    programs = told["DeviceGetComputeRunningProcesses"]
    return {
        **{f"nvml{name}": value for name, value in told.items() if name.startswith("Device")},
        "nvmlSystemGetDriverVersion": RECORDED["driver"],
        "nvmlDeviceGetHandleByPciBusId": "card",
        "nvmlDeviceGetPciInfo": SimpleNamespace(**told["DeviceGetPciInfo"]),
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(**told["DeviceGetUtilizationRates"]),
        "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(**each) for each in programs],
        "nvmlDeviceGetClockInfo": lambda _, kind: clocks[kind],
        "nvmlDeviceGetMemoryInfo": lambda _, version=1: SimpleNamespace(
            total=memory["total"], used=memory["used"] - (RESERVED if version == 2 else 0)
        ),
    }


class TestRecordedH100:
    """Answers of a real driver."""

    def test_what_it_is(self, driver):
        (gpu,), notes = driver(**recorded("at rest"))
        assert (gpu.name, gpu.driver, gpu.link) == ("NVIDIA H100 80GB HBM3", "580.159.04", (5, 16))
        assert gpu.memory_total == 81_559 * MIB  # as nvidia-smi tells it
        assert gpu.bus == "00000000:00:06.0"
        assert same_bus(gpu.bus, "0000:00:06.0")  # as CUDA wrote it
        assert GPUS.find(gpu.name).name == "H100 SXM"
        assert notes == ()

    def test_at_rest_nothing_holds_its_memory(self, driver):
        driver(**recorded("at rest"))
        state = nvml.state("0000:00:06.0")
        assert (state.memory_used, state.held_by, state.busy, state.slowed_by) == (0, {}, 0, ())
        assert (state.clock, state.power, state.power_limit) == (345e6, 71.418, 700)

    def test_matrix_products_take_all_its_power(self, driver):
        driver(**recorded("under load"))
        state = nvml.state("0000:00:06.0")
        assert state.slowed_by == ("the power limit",)
        assert state.held_by == {RECORDED["pid"]: 1_184_890_880}
        # what programs hold, and a few MB of the driver's for them
        assert state.memory_used == pytest.approx(1_184_890_880, rel=0.01)
        assert state.sentence() == (
            "Under load: processors at 1335 MHz, memory at 2619 MHz, 716 of 700 W, slowed by the "
            "power limit."
        )


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
        current_link_speed="32.0 GT/s PCIe",
        current_link_width="16",
    )
    ids = tmp_path / "usr/share/misc/pci.ids"
    ids.parent.mkdir(parents=True)
    ids.write_text(
        "1001  Other\n\t744c  Wrong\n1002  Advanced Micro Devices\n\t0001  No\n"
        "\t744c  Navi 31 [Radeon RX 7900 XTX]\n\t\t1da2 e471  NITRO+\n1003  Third\n"
    )
    (facts,), notes = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert (facts.name, facts.vendor) == ("Radeon RX 7900 XTX", "AMD")
    assert facts.bus == "0000:02:00.0"
    assert facts.memory_total == 24 * GIB
    assert facts.link == (4, 8)
    assert notes == ()


def test_intel_has_an_identity_and_a_note_about_memory(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x8086", device="0xe20b")
    (facts,), (note,) = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert (facts.name, facts.vendor, facts.memory_total) == ("GPU 8086:e20b", "Intel", None)
    assert "choose it by hand" in note


def test_an_nvidia_card_without_a_driver_is_reported_beside_others(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x8086", device="0x4680")
    sysfs(tmp_path, "card1", vendor="0x10de", device="0x2684")
    _, notes = driver(nvmlInit=NVMLError(NOT_LOADED))
    assert notes[0].startswith("No NVIDIA driver")


def test_displays_of_virtual_machines_are_no_gpus(driver, tmp_path):
    sysfs(tmp_path, "card0", vendor="0x1234", device="0x1111")
    assert driver(nvmlDeviceGetCount=0)[0] == ()


RX_7900 = {"vendor": "0x1002", "device": "0x744c", "revision": "0xc8"}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_amd_names_cards_of_one_chip_by_revision(driver, tmp_path):
    # Format of libdrm's amdgpu.ids: device, revision, name; https://gitlab.freedesktop.org/mesa/drm
    sysfs(tmp_path, "card0", **RX_7900)
    write(
        tmp_path / "usr/share/libdrm/amdgpu.ids",
        "# List of AMDGPU IDs\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
        "744C,\tCC,\tAMD Radeon RX 7900 XT\n",
    )
    (option,), _ = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert option.name == "AMD Radeon RX 7900 XTX"


class AmdSmiException(Exception):
    pass


def amd_library(monkeypatch, **changes):
    """A pretended amdsmi, answers as version 7.0.2 gives them."""
    module = ModuleType("amdsmi")
    module.AmdSmiException = AmdSmiException
    answers = {
        "amdsmi_init": None,
        "amdsmi_shut_down": None,
        "amdsmi_get_processor_handles": ["first"],
        "amdsmi_get_gpu_asic_info": {"market_name": "AMD Instinct MI300X", "vendor_id": "0x1002"},
        "amdsmi_get_gpu_device_bdf": "0000:02:00.0",
    }
    for name, given in (answers | changes).items():
        setattr(module, name, answer(given))
    monkeypatch.setitem(sys.modules, "amdsmi", module)


def test_amd_library_names_a_card(driver, tmp_path, monkeypatch):
    amd_library(monkeypatch)
    sysfs(tmp_path, "card0", **RX_7900)
    (option,), _ = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert option.name == "AMD Instinct MI300X"


@pytest.mark.parametrize(
    "changes",
    [
        {"amdsmi_init": AmdSmiException("no driver")},
        {"amdsmi_get_gpu_asic_info": AmdSmiException("not supported")},
        {"amdsmi_get_gpu_asic_info": {"market_name": "N/A"}},
        {"amdsmi_get_gpu_asic_info": {"market_name": "0x744c"}},
    ],
)
def test_amd_library_without_a_name(driver, tmp_path, monkeypatch, changes):
    amd_library(monkeypatch, **changes)
    sysfs(tmp_path, "card0", **RX_7900)
    (option,), _ = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert option.name == "GPU 1002:744c"


def test_amd_library_without_its_driver_prints_and_fails(driver, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "packages"
    write(folder / "amdsmi.py", "print('Unable to find libamd_smi.so')\nraise KeyError('x')\n")
    monkeypatch.syspath_prepend(str(folder))
    sysfs(tmp_path, "card0", **RX_7900)
    (option,), _ = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert option.name == "GPU 1002:744c"
    assert capsys.readouterr().out == ""


def test_amd_library_is_not_asked_without_an_amd_card(driver, tmp_path, monkeypatch):
    amd_library(monkeypatch, amdsmi_init=RuntimeError("asked"))
    sysfs(tmp_path, "card0", vendor="0x8086", device="0xe20b")
    assert len(driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))[0]) == 1


def test_intel_tells_the_memory_of_its_tiles(driver, tmp_path):
    # xe: tile*/physical_vram_size_bytes, as github.com/intel/compute-runtime reads it
    sysfs(tmp_path, "card0", vendor="0x8086", device="0xe20b")
    device = tmp_path / "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0"
    write(device / "tile0/physical_vram_size_bytes", f"{12 * 2**30}\n")
    write(
        tmp_path / "usr/share/hwdata/pci.ids",
        "8086  Intel Corporation\n\te20b  Battlemage G21 [Arc B580]\n8087  Next\n",
    )
    (facts,), notes = driver(nvmlInit=NVMLError(LIBRARY_NOT_FOUND))
    assert (facts.name, facts.memory_total) == ("Arc B580", 12 * GIB)
    assert notes == ()


@pytest.fixture
def mac(monkeypatch, tmp_path):
    """A Mac whose system_profiler prints what is given; call for its GPUs."""

    def mac(machine: str, profile: str):
        told = {"sysctl": "Apple M4 Max", "system_profiler": profile}
        apple._cards.cache_clear()
        monkeypatch.setattr(detect, "operating_system", lambda: "darwin")
        monkeypatch.setattr(apple.platform, "machine", lambda: machine)
        monkeypatch.setattr(apple, "command", lambda *words: told[words[0]])
        monkeypatch.setattr(apple, "sysctl", {"hw.memsize": 64 * 2**30}.get)
        return detect.gpus(tmp_path)

    yield mac
    apple._cards.cache_clear()


def profile(**entry: str) -> str:
    """What `system_profiler -json SPDisplaysDataType` prints on macOS 15, shortened."""
    return json.dumps({"SPDisplaysDataType": [{"_name": "GPU", **entry}]})


def test_apple_shares_memory_with_the_host(mac):
    told = profile(
        spdisplays_vendor="sppci_vendor_Apple",
        sppci_bus="spdisplays_builtin",
        sppci_cores="32",
        sppci_device_type="spdisplays_gpu",
        sppci_model="Apple M4 Max",
    )
    (facts,), (note,) = mac("arm64", told)
    assert (facts.name, facts.vendor, facts.unified) == (
        "Apple M4 Max 32-core GPU",
        "Apple",
        True,
    )
    assert facts.memory_total == 64 * GIB
    assert "share one memory" in note


@pytest.mark.parametrize("told", ["", "no json", "[]", "{}", '{"SPDisplaysDataType": [7]}'])
def test_apple_without_a_profile_is_named_by_its_chip(mac, told):
    (facts,), _ = mac("arm64", told)
    assert (facts.name, facts.memory_total) == ("Apple M4 Max", 64 * GIB)


def test_a_mac_with_an_intel_processor(mac):
    told = profile(
        spdisplays_vendor="sppci_vendor_amd",
        spdisplays_vram="8 GB",
        sppci_model="AMD Radeon Pro 5500M",
    )
    (facts,), notes = mac("x86_64", told)
    assert (facts.name, facts.vendor, facts.memory_total) == (
        "AMD Radeon Pro 5500M",
        "AMD",
        8 * GIB,
    )
    assert notes == ()


def test_a_mac_whose_gpu_cannot_be_seen(mac):
    assert mac("x86_64", "") == ((), ("No GPU of this Mac can be seen; choose one by hand.",))


def test_this_machine_never_raises():
    result, notes = detect.gpus()
    assert result or notes
