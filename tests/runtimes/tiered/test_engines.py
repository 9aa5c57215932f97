"""Engines with experts in tiers: their table, names, refusals, and what holds for each."""

import re

import numpy as np
import pytest
from provenance import is_past

from advisor.advice.advise import advise
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.kernels import TierKernels
from advisor.cost_model.placement import PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.expert_use import Fill
from advisor.model.model import Model
from advisor.runtimes import runtime
from advisor.runtimes.compare import decode_tps
from advisor.runtimes.remarks import remarks_of
from advisor.runtimes.tiered import command, described, in_tiers, on_card, tiered_runtimes
from advisor.runtimes.tiered.engines import (
    BUFFERED,
    DIRECT,
    MAPPED,
    MEASURED,
    PROBED,
    RamTier,
    TieredEngine,
    packed,
)
from advisor.runtimes.tiered.placement import SPARE
from advisor.units import GIB, Array

RAM = PlacementStrategy.CPU_OFFLOAD
DRIVE = PlacementStrategy.NVME_OFFLOAD
KIMI = "kimi-k3-in-c"


@pytest.fixture(scope="module")
def model() -> Model:
    return resolve.find("Qwen3.8-Flash-Next", "IQ3_S").model


def rig(gpu: str = "RTX 5070", ram_gb: Array = 64.0, **more: object) -> Machine:
    return machine(MachineSpec(gpu=gpu, cpu="Ryzen 5 7600", ram_gb=ram_gb, **more))  # type: ignore[arg-type]


def answer(
    name: str, model: Model, where: Machine, strategy: PlacementStrategy = RAM, **settings: float
) -> Estimate:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    return estimate(model, where, Workload(prompt=4096), runtime(name), strategy, settings=chosen)


@pytest.mark.parametrize("engine", TieredEngine.rows(), ids=lambda engine: engine.key)
def test_every_row_is_complete(engine: TieredEngine) -> None:
    assert re.compile(engine.models)
    assert engine.vram_fill in set(Fill)
    assert engine.ram_fill in set(Fill)
    assert engine.ram_tier in set(RamTier)
    assert engine.link_share in (MEASURED, PROBED) or 0.0 <= float(engine.link_share) <= 1.0
    assert not engine.measured_from or engine.link_share == PROBED
    assert engine.draft_head_mib is None or engine.drafted > 0
    assert (engine.drafted > 0) == (engine.accepted is not None)
    assert engine.drive in (DIRECT, MAPPED, BUFFERED)
    assert 0.5 < engine.ram_share <= 1.0
    assert set(filter(None, engine.vulkan.split(";"))) <= set(engine.vendors.split(";"))
    assert is_past(engine.version_date)
    assert engine.source
    assert runtime(engine.name).key == engine.key
    for spelling in engine.spellings:
        assert runtime(spelling).name == engine.name


def test_named_engines_are_runtimes() -> None:
    for name in ("Project Maya", "strata-poly", "niko1221/strata", "infr", "ft serve", "dwarfstar"):
        assert runtime(name) in tiered_runtimes()


@pytest.mark.parametrize(
    ("name", "spec", "words"),
    [
        ("Strata", {"gpu": "none"}, "needs a GPU"),
        ("basalt", {"gpu": "RX 7900 XTX"}, "does not run on RX 7900 XTX"),
        ("XeStrata", {"system": "windows"}, "runs on Linux"),
        ("Maya", {}, "does not run Qwen/Qwen3.8-Flash-Next"),
        ("glm-flash-lite", {}, "does not run"),
        ("lean-qwenflash", {"gpu": "RTX 3070 Ti"}, "starts with 16 GB of VRAM"),
    ],
)
def test_it_refuses_with_the_reason(
    model: Model, name: str, spec: dict[str, float | str], words: str
) -> None:
    result = answer(name, model, rig(**spec))  # type: ignore[arg-type]
    assert words in result.refusal


def test_a_dense_model_has_no_experts_to_keep() -> None:
    dense = resolve.find("Llama-3.1-8B", "Q4_K_M").model
    assert "has none" in answer("Strata", dense, rig()).refusal


def test_bytes_lie_where_the_engine_puts_them(model: Model) -> None:
    mine = packed(TieredEngine.rows()[0], model)
    assert float(mine.expert_bytes) == pytest.approx(46.8 * GIB)
    result = answer("Strata", mine, rig())
    placed = result.placement
    assert placed is not None
    # VRAM less 0.5 of a context, 4 of drafts and buffers, dense parts and a cache of 8,192 tokens
    cache = float(np.sum(mine.kv_bytes(8192, "q8_0")))
    dense = mine.bytes_without_table - 46.8 * GIB
    room = float(rig().gpus[0].memory.value) - 4.5 * GIB - dense - cache - SPARE
    assert float(placed.expert_cache) == pytest.approx(room, rel=1e-6)
    assert float(placed.page_cache) == pytest.approx(46.8 * GIB)
    # all experts, 10 GiB for the engine and the system, and the table of tokens
    ram = sum(map(float, result.held[Tier.RAM]))
    table = mine.embedding * (1.0 - mine.tables_share)
    assert ram == pytest.approx(56.8 * GIB + table, rel=1e-3)
    assert bool(result.fits)
    assert not bool(answer("Strata", mine, rig(ram_gb=48)).fits)


def test_a_better_machine_is_never_slower(model: Model) -> None:
    def speed(where: Machine, strategy: PlacementStrategy = RAM) -> float:
        return float(answer("Strata", model, where, strategy).decode_tps or 0.0)

    assert speed(rig("RTX 5090")) > speed(rig("RTX 5070"))
    assert speed(rig(ram_gbs=90.0)) >= speed(rig(ram_gbs=50.0))
    drives = [
        float(
            answer("Strata", model, rig(ram_gb=ram), DRIVE, page_cache=ram / 2 * GIB).decode_tps
            or 0
        )
        for ram in (16, 32, 48, 64)
    ]
    assert drives == sorted(drives)
    fast = answer("Strata", model, rig(disk_gbs=14.0), DRIVE).decode_tps
    slow = answer("Strata", model, rig(disk_gbs=3.0), DRIVE).decode_tps
    assert float(fast or 0) > float(slow or 0)


def test_a_sweep_is_the_same_as_single_answers(model: Model) -> None:
    rams = np.array([24.0, 48.0, 96.0])
    swept = answer("MoE4All", model, rig(ram_gb=rams), DRIVE).decode_tps
    alone = [answer("MoE4All", model, rig(ram_gb=ram), DRIVE).decode_tps for ram in rams]
    assert np.asarray(swept) == pytest.approx(np.ravel(np.array(alone, dtype=float)))


def test_few_engines_are_offered_and_those_with_reports_first(model: Model) -> None:
    offered = [each.name for each in in_tiers(model, rig())]
    assert offered[0] == "Strata"
    assert len(offered) <= 3
    assert not in_tiers(resolve.find("Llama-3.1-8B", "Q4_K_M").model, rig())
    small = resolve.find("gpt-oss-20b", "MXFP4").model
    assert not in_tiers(small, rig("RTX 5090"))


def test_who_reported_it_is_told_by_card() -> None:
    strata = TieredEngine.rows()[0]
    assert on_card(strata, rig("RTX 5060")) == "no report of it on an RTX 5060 is known"
    assert "users reported it on an RTX 5090" in on_card(strata, rig("RTX 5090"))
    first, second = remarks_of(runtime("Strata"))
    assert "young" in first
    assert "--calibrate" in second


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("ram_gb", [32.0, 64.0, 96.0])
def test_experts_fill_memories_and_no_more(count: int, ram_gb: float) -> None:
    where = rig("RTX 3060 12GB", ram_gb, gpu_count=count)
    model = resolve.find("Qwen3.8-Flash-Next", "IQ3_S").model
    for name in ("Strata", "MoE4All"):
        assert bool(answer(name, model, where, DRIVE).fits), name


def test_the_card_of_a_drive_is_of_the_fastest_engine_that_runs() -> None:
    advice = advise(
        resolve.find("Qwen3.8-Flash-Next", "IQ3_S").model, rig(ram_gb=128.0), Workload()
    )
    shown = advice.card(DRIVE)
    assert shown is not None
    able = [each for each in advice.estimates if each.strategy is DRIVE and bool(each.fits)]
    assert decode_tps(shown) == max(map(decode_tps, able))
    assert advice.best is not None
    assert advice.best.runtime.mainstream, "what is compared first stays in common use"


@pytest.mark.parametrize(
    ("version", "mapped"),
    [("0.1.31", True), ("0.1.37 patched", True), ("0.1.38", False), ("0.2.22", False), ("", False)],
)
def test_strata_read_a_mapped_file_before_its_unbuffered_reads(version: str, mapped: bool) -> None:
    # release 0.1.38: the file tier is read unbuffered
    engine = TieredEngine.called("strata")
    assert engine is not None
    assert (engine.of_version(version).drive == MAPPED) is mapped


@pytest.mark.parametrize(
    ("version", "gpu", "measures"),
    [
        ("0.1.41", "V100 PCIe 32GB", False),
        ("0.1.42", "V100 PCIe 32GB", True),
        ("0.1.42", "RX 7900 XTX", False),
        ("0.1.42", "2x V100 PCIe 32GB", False),
    ],
)
def test_strata_measures_its_link_share_with_one_nvidia_card(
    version: str, gpu: str, measures: bool
) -> None:
    # release 0.1.42: "CUDA, one GPU"; a layer split and other back ends keep the start-up rule
    engine = next(row for row in TieredEngine.rows() if row.key == "strata")
    assert engine.of_version(version).measures_shares(rig(gpu)) is measures


@pytest.mark.parametrize(("version", "waits"), [("0.1.38", True), ("0.1.39", False)])
def test_no_layer_waits_where_all_of_its_experts_are_in_vram(version: str, waits: bool) -> None:
    # release 0.1.39, pull request 646: rounds without host round trips, only there
    engine = next(row for row in TieredEngine.rows() if row.key == "strata")
    assert engine.of_version(version).waits is waits


def test_strata_on_amd_had_the_kernels_of_another_vendor() -> None:
    # Niko1221/Strata docs/AMD_HIP_PERFORMANCE.md: fresh prompts 1.80 to 2.02 times as fast with the
    # port's own kernels on an RX 7900 XTX.
    model = resolve.find("Qwen3.8-Flash-Next", "IQ3_XXS").model
    engine = next(row for row in TieredEngine.rows() if row.key == "strata")
    before = described(engine.of_version("0.1.38"))
    for gpu, least, most in (("RX 7900 XTX", 1.8, 2.1), ("RTX 5090", 1.0, 1.0)):
        where = rig(gpu)
        old, new = (
            estimate(model, where, Workload(prompt=8830), each, RAM).prompt
            for each in (before, described(engine))
        )
        assert old is not None
        assert new is not None
        ratio = float(np.asarray(old.parts[Route.RESIDENT] / new.parts[Route.RESIDENT]))
        assert least <= ratio <= most


@pytest.mark.parametrize(("name", "in_turn"), [("colibri", True), ("BigMoeOnEdge", False)])
def test_cores_wait_for_the_drive_where_reports_say_so(name: str, in_turn: bool) -> None:
    # JustVugg/colibri docs/benchmarks.md: of a token on a 12900K 48 % are the drive, 34 % products
    # and 12 % attention, which leaves nothing for both at once; Helldez/BigMoeOnEdge has --overlap.
    model = resolve.find("Qwen3.6-35B-A3B", "Q8_0").model
    here = answer(name, model, machine(MachineSpec(cpu="Core i9-12900K", ram_gb=24.0)), DRIVE)
    stages = [{str(flow.route) for flow in stage} for stage in here.phases.decode.stages]
    together = {str(Route.IN_PLACE), str(Route.STAGED)}
    assert (together in stages) is not in_turn
    assert set().union(*stages) == together
    time = here.step
    assert time is not None
    assert time.parts[Route.IN_PLACE] > 0 or not in_turn
    assert bool(time.hidden > 0) is not in_turn


@pytest.mark.parametrize("engine", tiered_runtimes(), ids=lambda engine: engine.key)
def test_each_engine_is_answered_as_the_chosen_one(engine: Runtime, model: Model) -> None:
    # A runtime is a key of caches: one that has no hash would end in a traceback.
    assert isinstance(hash(engine), int)
    verdict = advise(model, rig(), Workload(), chosen=engine).verdict
    assert engine.name in verdict


@pytest.mark.parametrize(
    ("name", "gpu", "vulkan"),
    [
        ("moe4all", "RX 7900 XTX", True),
        ("moe4all", "RTX 5070", True),
        ("rustingstrata", "RX 7900 XTX", True),
        ("rustingstrata", "RTX 5070", False),
        ("strata", "RX 7900 XTX", False),
    ],
)
def test_rounds_of_vulkan_shaders_are_known_apart(
    name: str, gpu: str, vulkan: bool, model: Model
) -> None:
    # MoE4All README_EN 0.10.0: "Vulkan inference"; RustingStrata README 1.2.3: CUDA or Vulkan;
    # Strata docs/AMD_HIP_PERFORMANCE.md: HIP.
    where = rig(gpu)
    work = Workload(prompt=4096)
    settled = answer(name, model, where)
    phases = runtime(name).schedule(model, settled.placement, where, work)
    flows = [flow for stage in phases.decode.stages for flow in stage]
    kernels = [flow.kernels for flow in flows if flow.route is Route.RESIDENT]
    assert [made.vulkan for made in kernels if isinstance(made, TierKernels)] == [vulkan]


def kimi(ram_gb: float) -> Estimate:
    where = machine(MachineSpec(cpu="EPYC 7763", ram_gb=ram_gb, disk_gbs=5.1))
    model = resolve.find("Kimi-K3", "MXFP4-hf").model
    return estimate(model, where, Workload(), runtime(KIMI), DRIVE)


def from_drive(answer: Estimate) -> float:
    """Bytes that a token reads from the drive."""
    flows = (flow for stage in answer.phases.decode.stages for flow in stage)
    return sum(float(flow.moved) for flow in flows if flow.route is Route.STAGED)


def test_dense_weights_that_ram_has_no_room_for_come_from_the_drive() -> None:
    # FareedKhan-dev/kimi-k3-in-c docs/PERFORMANCE.md: 108.81 GB of dense layers and 25.83 GB of
    # experts a token, at 8 GB all of them. Of 32 GB, 34.4e9 B, the engine takes 4.3e9 for itself,
    # the embedding and the head 2.3e9 each, and a context of 8,192 tokens 0.7e9. So 24.8e9 of the
    # layers stay: 108.8 - 24.8 + 25.8 = 109.8e9 are read.
    answer = kimi(32.0)
    assert from_drive(answer) == pytest.approx(109.8e9, rel=0.005)
    assert bool(answer.fits)


@pytest.mark.parametrize(("ram_gb", "fits"), [(8.0, False), (12.0, True), (64.0, True)])
def test_kimi_runs_beside_a_system_from_ten_gigabytes(ram_gb: float, fits: bool) -> None:
    # its scripts/k3-doctor.sh: 10 GB available are the least; 8.24 GB were resident
    assert bool(kimi(ram_gb).fits) is fits


def test_more_ram_leaves_less_to_the_drive() -> None:
    read = [from_drive(kimi(ram_gb)) for ram_gb in (16.0, 64.0, 256.0)]
    assert read == sorted(read, reverse=True)
    # all dense layers in RAM: the experts alone, 25.83 GB (README: 25.83 GB in 5.06 s)
    assert read[-1] <= 25.83e9 * 1.001


def test_an_engine_of_one_checkpoint_reads_it_as_its_maker_published_it() -> None:
    loaded = runtime(KIMI).loaded_format("Q4_K_M", machine(MachineSpec(cpu="EPYC 7763")))
    assert loaded.format == "MXFP4-hf"
    assert "published" in loaded.reason


@pytest.mark.parametrize(
    ("name", "gpu", "ram_gb"),
    [
        ("colibri", "Apple M5 Max 40c", 128.0),  # JustVugg/colibri docs/benchmarks.md: 72, 387
        ("colibri", "NVIDIA GB10 (DGX Spark)", 128.0),  # 136
        ("colibri", "Apple M1 Max 32c", 64.0),  # 1030
    ],
)
def test_a_shared_memory_holds_the_experts_once(name: str, gpu: str, ram_gb: float) -> None:
    # GLM-5.2 of 344 GiB ran on each of them: what the GPU's cache holds, RAM does not hold again
    where = machine(MachineSpec(gpu=gpu, ram_gb=ram_gb))
    loaded = runtime(name).loaded_format("Q4_K_M", where).format
    here = answer(name, resolve.find("GLM-5.2", loaded).model, where, DRIVE)
    assert bool(here.fits)
    cached = float(here.placement.expert_cache)
    assert 0.4 * ram_gb * GIB < cached < ram_gb * GIB
    assert float(here.placement.page_cache) == 0.0


@pytest.mark.parametrize(
    ("ram_gb", "cached_gb"),
    [
        # issue 486: 113.3 GB of budget, 10.9 dense, 6.1 for the run, 96.3 of experts
        (128.0, 96.3),
        # docs/benchmarks.md, Core i9-12900K: 26 experts of 18.9 MB in each of 75 layers, 36.9 GB
        (64.0, 36.9),
    ],
)
def test_colibri_leaves_an_eighth_of_the_ram_free(ram_gb: float, cached_gb: float) -> None:
    # docs/ENVIRONMENT.md: RAM_GB is 88 % of what is free. Of 128 GiB, 137.4e9 B, that is 120.9e9;
    # 11 GiB are the system's and the run's, 10.9e9 the dense weights: 98.2e9 for experts.
    where = machine(MachineSpec(gpu="none", cpu="Core i9-12900K", ram_gb=ram_gb))
    loaded = runtime("colibri").loaded_format("Q4_K_M", where).format
    here = answer("colibri", resolve.find("GLM-5.2", loaded).model, where, DRIVE)
    assert float(here.placement.page_cache) == pytest.approx(cached_gb * 1e9, rel=0.06)


def start_line(
    name: str,
    published: str,
    form: str,
    strategy: PlacementStrategy = RAM,
    gpu: str = "RTX 4090",
    ram_gb: float = 96.0,
) -> str:
    """Start line of an engine for a model in a format."""
    where = rig(gpu, ram_gb)
    work = Workload(prompt=4096)
    model = resolve.find(published, form).model
    result = estimate(model, where, work, runtime(name), strategy)
    engine = TieredEngine.called(name)
    assert engine is not None
    assert result.placement is not None
    return command(engine, model, result.placement, where, work)


@pytest.mark.parametrize(
    ("published", "form", "options", "without"),
    [
        ("Qwen3.8-Flash-Next", "IQ3_S", "--family qwen --model IQ3_S", "#"),
        ("Qwen3.8-Flash-Next", "IQ1_M", "--family coder --model IQ1_M", "#"),
        ("Qwen3.8-Flash-Next", "IQ4_XS", "--family unsloth --model UD-IQ4_XS", "#"),
        ("Qwen3.8-Flash-Next", "Q4_K_M", "--family qwen --context", "--model"),
        ("Qwen3.6-35B-A3B", "UD-IQ3_S", "--family qwen36 --model UD-IQ3_S", "#"),
    ],
)
def test_strata_s_setup_is_asked_for_files_that_it_has(
    published: str, form: str, options: str, without: str
) -> None:
    # setup.py at 021ef858 refuses a size that its family does not list; without one it asks
    first = start_line("Strata", published, form).splitlines()[0]
    assert options in first
    assert without not in first


def test_strata_keeps_a_stated_part_in_ram_with_one_family_alone() -> None:
    # setup.py: "--resident-budget-gib" is of the Unsloth files; others stream with "--low-ram on"
    listed = start_line("Strata", "Qwen3.8-Flash-Next", "UD-Q4_K_XL", DRIVE, ram_gb=32.0)
    assert "--resident-budget-gib" in listed
    other = start_line("Strata", "Qwen3.8-Flash-Next", "IQ3_S", DRIVE, ram_gb=32.0)
    assert "--low-ram on" in other
    assert "--resident-budget-gib" not in other


def test_options_of_start_lines_are_those_of_the_engines_parsers() -> None:
    # FreeToken's server/args.py has the model as an option; Maya's maya.py builds for CUDA unless
    # told `--backend hip`; colibri's c/coli takes 88 % of what is free without `--ram`
    assert "ft serve --model " in start_line("FreeToken", "Qwen3.8-Flash-Next", "Q4_K_M")
    glm = ("GLM-5.3-Flash", "IQ2_XXS")
    assert "--backend hip" in start_line("Maya", *glm, gpu="RX 7900 XTX")
    assert "--backend" not in start_line("Maya", *glm)
    apple = start_line("colibri", "GLM-5.2", "Q4_K_M", DRIVE, gpu="Apple M1 Max 32c", ram_gb=64.0)
    assert "--ram" not in apple


@pytest.mark.parametrize("gpu", ["RTX 4090", "RTX 3090", "RX 7900 XTX"])
def test_a_card_of_24_gb_is_enough_for_an_engine_from_24_gb(gpu: str) -> None:
    flash = resolve.find("DeepSeek-V4-Flash", "Q4_K_M").model
    assert "starts with" not in answer("ds4", flash, rig(gpu, 256.0)).refusal
    assert "starts with 24 GB" in answer("ds4", flash, rig("RTX 5080", 256.0)).refusal
