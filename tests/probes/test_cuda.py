"""The CUDA probe against a pretended driver, its kernel against NVIDIA's assembler.

What the pretended driver cannot show, the arguments of the real bindings, a small library in C
shows that takes the driver's place.
"""

import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from cuda_driver import RATES, START, CudaDriver, CUresult

from advisor.failures import ProbeError
from advisor.probes import host, measurement
from advisor.probes.gpu import cuda, transfer
from advisor.probes.gpu import transfer as contention
from advisor.probes.gpu.detect import GpuFacts, GpuState, same_bus
from advisor.units import GB, GIB, MIB

HOST = host.HostFacts(
    name="Example",
    cores=2,
    sockets=1,
    instruction_sets=frozenset(),
    memory_total=int(32 * GIB),
    memory_available=int(2 * GIB),
    llc=int(32 * MIB),
    os="Linux",
    notes=(),
)
BUSY = GpuState(
    link_generation=4,
    link_width=8,
    clock=2.52e9,
    memory_clock=10.501e9,
    power=212.0,
    power_limit=450.0,
    slowed_by=("heat",),
)
COPIES = ("h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable")
RAM_RATE = 12e9


def bindings_are_here() -> bool:
    return find_spec("cuda") is not None and find_spec("cuda.bindings") is not None


class PretendedReaders:
    """Threads that read RAM at a known rate, until the copies beside them have gone on a while."""

    driver: CudaDriver

    def __init__(self, threads: int, size: int, cpus: None = None) -> None:
        self.bytes_per_pass = threads * size
        self.threads = threads

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def seconds(self, passes: int) -> float:
        turn = threading.Event()
        enough = self.driver.time + 1.0  # simulated
        for _ in range(1_000):
            if self.driver.time >= enough or not self.driver.copying():
                break
            turn.wait(0.001)
        return self.bytes_per_pass * passes / RAM_RATE


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch):
    """Puts a pretended driver in place of NVIDIA's bindings."""

    def install(driver: CudaDriver | None = None, free: float = HOST.memory_available):
        driver = driver or CudaDriver()
        before = threading.active_count()
        driver.copying = lambda: threading.active_count() > before
        PretendedReaders.driver = driver
        facts = replace(HOST, memory_available=int(free))
        monkeypatch.setattr(cuda, "import_module", {"cuda.bindings.driver": driver}.__getitem__)
        monkeypatch.setattr(cuda, "operating_system", lambda: "linux")
        monkeypatch.setattr(measurement, "now", driver.now)
        monkeypatch.setattr(host, "facts", lambda: facts)
        monkeypatch.setattr(contention, "Readers", PretendedReaders)
        monkeypatch.setattr(transfer.detect, "state", lambda _: BUSY)
        monkeypatch.setattr(transfer.detect, "gpus", lambda: ((), ()))
        return driver

    return install


def figures(seconds=0.5, **how):
    return {measurement.name: measurement for measurement in transfer.measure(seconds, **how)}


def test_rates_come_out_as_they_are(install):
    install()
    result = figures()
    for name, rate in RATES.items():
        # The largest piece: 64 MiB at 24 GB/s take 2.8 ms, beside which 4 us are 0.15 %.
        assert result[name].value == pytest.approx(rate, rel=0.01)
        assert result[name].unit == "B/s"
        assert result[name].spread < 0.01


def test_small_copies_show_the_cost_of_starting_a_copy(install):
    install()
    curve = figures(3.5)["h2d_pinned"].curve
    assert [point.block for point in curve] == [256 * 2**10, 4 * 2**20, 64 * 2**20]
    for point in curve:
        assert point.value == pytest.approx(point.block / (point.block / 24e9 + START), rel=1e-6)
    # 262,144 B / (10.92 us + 4 us)
    assert curve[0].value == pytest.approx(17.57 * GB, rel=1e-3)


def test_both_sides_of_the_contention(install):
    install()
    result = figures()
    assert result["ram_read_while_copying"].value == pytest.approx(RAM_RATE)
    assert result["ram_read_while_copying"].threads == HOST.cores
    # Counted in batches of 256 MiB, 11 ms, beside the second of a repeat.
    assert result["h2d_while_reading"].value == pytest.approx(24 * GB, rel=0.05)
    assert "GB/s were copied to the GPU" in result["ram_read_while_copying"].note


def test_the_link_is_read_under_load(install, monkeypatch):
    driver = install()
    queued: list[float] = []

    def state(bus: str) -> GpuState:
        queued.append(max(driver.until.values()) - driver.time)
        return BUSY

    monkeypatch.setattr(transfer.detect, "state", state)
    result = figures()
    assert (result["pcie_generation"].value, result["pcie_generation"].unit) == (4, "generation")
    assert (result["pcie_width"].value, result["pcie_width"].unit) == (8, "lanes")
    assert len(queued) == 2  # copies, then reads
    assert min(queued) > 0.1
    assert (
        "Under load: processors at 2520 MHz, memory at 10501 MHz, 212 of 450 W, slowed by heat."
        in result["device_read"].note
    )


def test_a_driver_that_tells_nothing_leaves_the_link_out(install, monkeypatch):
    install()
    monkeypatch.setattr(transfer.detect, "state", lambda _: None)
    result = figures()
    assert "pcie_width" not in result
    assert result["h2d_pinned"].value > 0


def test_the_kernel_fills_the_gpu_once(install):
    driver = install()
    figures()
    blocks, threads, rounds = driver.launches[0]
    # 128 processors hold 6 blocks of 256 threads each; 16 caches of 72 MiB are 1152 MiB, in
    # rounds of 128 x 6 x 256 x 64 B = 12 MiB
    assert (blocks, threads, rounds) == (768, 256, 96)


def test_memory_is_taken_within_limits(install):
    driver = install(CudaDriver(free=2 * 2**30), free=4 * GIB)
    figures()
    assert driver.largest["device"] == 512 * MIB  # a quarter of what is free
    # a sixteenth for each buffer; readers beside take an eighth: a quarter together
    assert driver.largest["pinned"] == 256 * MIB
    assert contention.RAM_SHARE + 2 / transfer.HOST_PART == 1 / 4


def test_everything_is_given_back(install):
    driver = install()
    before = threading.active_count()
    figures()
    assert driver.taken == {}
    assert threading.active_count() == before


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_cancelling_gives_nothing_and_leaves_nothing(install, share):
    driver = install()
    before = threading.active_count()
    told: list[measurement.ProbeStep] = []
    assert figures(progress=told.append, cancelled=lambda: told[-1].share >= share) == {}
    assert driver.taken == {}
    assert threading.active_count() == before


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_an_interruption_leaves_nothing(install, share):
    driver = install()
    before = threading.active_count()

    def interrupt(step: measurement.ProbeStep) -> None:
        if step.share >= share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        figures(progress=interrupt)
    assert driver.taken == {}
    assert threading.active_count() == before


def test_progress_rises_to_the_end(install):
    install()
    told: list[measurement.ProbeStep] = []
    transfer.measure(0.5, told.append)
    shares = [step.share for step in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[-1].seconds_left == 0.0
    assert "h2d_pinned, 64 MB" in {step.doing for step in told}


@pytest.mark.parametrize("name", ["cuMemAlloc", "cuMemHostAlloc"])
def test_no_room_is_reported(install, name):
    driver = install(CudaDriver(**{name: CUresult.CUDA_ERROR_OUT_OF_MEMORY}))
    with pytest.raises(ProbeError, match="too little free memory for the copies"):
        figures()
    assert driver.taken == {}


def test_too_little_memory_of_the_host_is_refused(install):
    install(free=900 * MIB)
    with pytest.raises(ProbeError, match="need 1024 MB of free memory and 900 MB is free"):
        figures()


def test_too_little_memory_of_the_gpu_is_refused(install):
    install(CudaDriver(free=200 * 2**20))
    with pytest.raises(ProbeError, match="need 256 MB of free GPU memory and 200 MB is free"):
        figures()


def test_copies_are_measured_where_no_kernel_runs(install):
    install(CudaDriver(cuModuleLoadData=CUresult.CUDA_ERROR_INVALID_PTX))
    result = figures()
    assert set(COPIES) < set(result)
    assert "device_read" not in result
    assert "cuModuleLoadData (CUDA_ERROR_INVALID_PTX)" in result["h2d_pinned"].note


def test_a_gpu_in_use_keeps_its_way_of_waiting(install):
    code = CUresult.CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
    install(CudaDriver(cuDevicePrimaryCtxSetFlags=code))
    assert figures()["h2d_pinned"].value > 0


def test_an_error_of_copies_beside_reads_is_reported(install, monkeypatch):
    driver = install()
    before = threading.active_count()

    def broken(*_: object) -> None:
        raise ProbeError("The NVIDIA driver refused cuMemcpyHtoDAsync (X).")

    monkeypatch.setattr(contention, "_copy", broken)
    with pytest.raises(ProbeError, match="refused cuMemcpyHtoDAsync"):
        figures()
    assert driver.taken == {}
    assert threading.active_count() == before


def test_gpus_are_named_by_their_address(install, monkeypatch):
    # CUDA lists the faster card first, NVML the one with the lower address.
    install(CudaDriver(buses=("0000:41:00.0", "0000:01:00.0")))
    seen = tuple(
        GpuFacts(name=bus, vendor="NVIDIA", bus=bus)
        for bus in ("00000000:01:00.0", "00000000:41:00.0")
    )
    monkeypatch.setattr(transfer.detect, "gpus", lambda: (seen, ()))
    result = figures()
    assert result["h2d_pinned_gpu1"].note.startswith("GPU 0:")
    assert result["h2d_pinned"].note.startswith("GPU 1:")
    assert len(result) == 2 * len([name for name in result if not name.endswith("_gpu1")])


def test_a_gpu_in_use_does_not_hide_the_other(install, monkeypatch):
    install(CudaDriver(buses=("0000:01:00.0", "0000:02:00.0")))
    real = transfer._device_bytes
    answers = iter([ProbeError("8 MB is free."), None])

    def crowded(session):
        error = next(answers)
        if error:
            raise error
        return real(session)

    monkeypatch.setattr(transfer, "_device_bytes", crowded)
    result = figures()
    assert all(name.endswith("_gpu1") for name in result)
    assert "GPU 0 was not measured: 8 MB is free." in result["h2d_pinned_gpu1"].note


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("00000000:01:00.0", "0000:01:00.0", True),
        ("00000000:C1:00.0", "0000:c1:00.0", True),
        ("00010000:01:00.0", "0000:01:00.0", False),
        ("0000:01:00.0", "0000:02:00.0", False),
    ],
)
def test_addresses_as_drivers_spell_them(text, other, same):
    assert same_bus(text, other) is same


class TestNoCuda:
    """Why there is nothing to measure, in a sentence."""

    def test_no_package(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
        monkeypatch.setattr(cuda, "operating_system", lambda: "linux")
        with pytest.raises(ProbeError, match="cuda-bindings is missing"):
            transfer.measure(1.0)

    def test_no_driver(self, install):
        # cuda.pathfinder's DynamicLibNotFoundError is a RuntimeError.
        install(CudaDriver(cuInit=RuntimeError("libcuda.so.1 not found")))
        with pytest.raises(ProbeError, match="No CUDA driver is here"):
            figures()

    @pytest.mark.parametrize(
        "driver", [CudaDriver(cuInit=CUresult.CUDA_ERROR_NO_DEVICE), CudaDriver(buses=())]
    )
    def test_no_gpu(self, install, driver):
        install(driver)
        with pytest.raises(ProbeError, match="CUDA shows no GPU; if one is there"):
            figures()

    def test_a_driver_without_a_function(self, install):
        error = RuntimeError('Function "cuStreamCreate" not found')
        driver = install(CudaDriver(cuStreamCreate=error))
        with pytest.raises(ProbeError, match=r"does not offer cuStreamCreate .* update the driver"):
            figures()
        assert driver.taken == {}

    def test_a_mac(self, monkeypatch):
        monkeypatch.setattr(cuda, "operating_system", lambda: "darwin")
        with pytest.raises(ProbeError, match="does not exist on macOS"):
            transfer.measure(1.0)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas of NVIDIA's CUDA toolkit")
@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_the_kernel_assembles(tmp_path, chip):
    ptxas = shutil.which("ptxas")
    known = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    if f"'{chip}'" not in known:
        pytest.skip(f"this ptxas does not know {chip}")
    command = (ptxas, "-v", f"-arch={chip}", str(cuda.KERNEL), "-o", str(tmp_path / "kernel"))
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 bytes spill stores" in ran.stderr or "spill" not in ran.stderr
    assert "warning" not in ran.stderr.casefold()
    registers = int(re.search(r"Used (\d+) registers", ran.stderr)[1])
    assert registers * cuda.BLOCK_THREADS <= 65_536 // 2  # two blocks at least in each processor


def test_the_kernel_takes_its_arguments():
    text = cuda.KERNEL.read_text(encoding="ascii")
    assert re.search(r"\.entry (\w+)\(", text)[1] == cuda.KERNEL.stem
    assert re.findall(r"\.param \.(u\d+) (\w+)", text) == [
        ("u64", "source"),
        ("u64", "sink"),
        ("u32", "rounds"),
    ]
    # What a round reads: so many loads of 4 x 4 bytes.
    assert text.count("ld.global.v4.u32") * 16 == cuda.BYTES_PER_ROUND


@pytest.mark.skipif(
    not (sys.platform == "linux" and shutil.which("gcc") and bindings_are_here()),
    reason="needs gcc and cuda-bindings on Linux",
)
def test_the_real_bindings_pass_on_their_arguments(tmp_path):
    helpers = Path(__file__).parents[1] / "helpers"
    library = tmp_path / "libcuda.so.1"
    build = ("gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(helpers / "stub_libcuda.c"))
    subprocess.run((*build, "-ldl"), check=True)
    code = (
        "import ctypes; from advisor.probes.gpu import cuda\n"
        "driver = cuda.driver(); (device,) = cuda.devices(driver)\n"
        "with cuda.Session(driver, device) as session:\n"
        "    size = 2**24\n"
        "    memory, pinned = session.on_device(size), session.pinned(size)\n"
        "    session.to_device(memory, session.pageable(size), size)\n"
        "    session.to_host(pinned, memory, size)\n"
        "    assert ctypes.string_at(pinned + size - 2, 2) == b'\\x01\\x01'\n"
        "    block, launch = session.reader()(session.seen_by_device(pinned), size + 64)\n"
        "    assert block == 128 * 2 * 4 * 256 * 64\n"
        "    launch()\n"
        "    session.wait()\n"
        "print(device.name, device.bus)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=helpers.parents[1],
        env={"LD_LIBRARY_PATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "Stub GPU 0000:01:00.0"
    # The stub tells its calls: 2 processors x 4 blocks, 128 rounds, everything given back.
    assert "launch grid 8 block 256 rounds 128 sum 0" in ran.stderr
    assert "held 0" in ran.stderr.splitlines()[-1]
