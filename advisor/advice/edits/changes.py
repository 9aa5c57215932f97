"""Changes other than a bigger GPU: smaller format or cache, faster memory, link or drive, software.

All are valued in the runtime of the best placement now.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from advisor.advice.edits.edit import Edit, Edited, placements, scaled
from advisor.advice.edits.in_tiers import engine_in_tiers
from advisor.advice.speeds import Speed, speed_of
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Draft, Workload
from advisor.errors import Refusal, UnknownName
from advisor.machine import from_catalog
from advisor.machine.backends import Backend, Build, NumaPolicy, OperatingSystem
from advisor.machine.catalog import memory_generation
from advisor.machine.machine import Disk, Form, Gpu, Machine
from advisor.machine.shared_memory import raised
from advisor.model import catalog
from advisor.model.formats import Format
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import as_run, decode_tps
from advisor.units import GIB, KIB, MIB, Provenance, number

SMALLER_FORMATS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""GGUF formats suggested in place of larger ones, largest first."""
LAST_RESORTS = ("IQ3_XXS", "Q2_K")
"""Formats whose loss guides call clear, and a last resort: below Q3_K_M
(https://llmconfigurator.com/en/guides/troubleshooting/which-gguf-quant, 2026-06-15)."""
FEW_FORMATS = ("FP8", "bnb-int8", "AWQ")
"""Formats of other files that are suggested in place of larger ones, largest first."""
NEAR = 0.6
ANY_STEP = 0.2
"""Smallest size of a suggested format relative to the present one, among GGUF formats, and for the
usual one and other formats."""
READ_AHEAD = (Disk.USUAL_READ_AHEAD.value, 2.0 * MIB)
"""Read-ahead: Linux's default, and a size above which more gains little (`python -m
benchmarks.engine`) [B]."""
FAST_RAM = "fast-ram"
FASTER_RAM = 1.25
"""Part to buy for faster RAM, and its rate relative to the present one."""
WORTH_NAMING = 1.02  # a change must be this many times faster to be shown
SOME_QUALITY = "free, some quality"
"""Beginning of the cost of a change that the model's replies show."""
SAME_TEXT = "free, the same text"  # cost of a change that the model's replies do not show
SLOT_FOR_EACH = "one slot for each"  # beginning of the settings that give agents their slots
BY_BACKEND = ("llama.cpp", "lm-studio")  # runtimes with a choice of the GPU backend
TAKES_DRIVES = (Form.DESKTOP, Form.OFFICE, Form.SLIM, Form.SERVER)
"""Forms of machine with slots for drives that work as one; Macs have none, laptops few."""
ROOM = 0.9  # share of a socket's memory that a model may take to run from it alone

Edits = Iterator[Edit]


def faster_changes(
    model: Model, machine: Machine, work: Workload, best: Estimate | None
) -> tuple[Edited, ...]:
    """Changes that make the best placement faster, by gain; empty where nothing runs.

    Each change is timed in the first placement that fits. A fixed split stays fixed, as undoing it
    would be no effect of the change.
    """
    if best is None:
        return ()
    rows = list[Edited]()
    now = decode_tps(best)
    least = WORTH_NAMING
    before = replace(best, model=model, machine=machine, work=work)
    for edit in changes_of(model, machine, work, best):
        placed = (each.again() for each in placements(replace(before, **edit.changes)))
        first = next((each for each in placed if bool(each.fits)), None)
        fast = first is not None and (edit.of_prompt or decode_tps(first) >= least * now)
        if first is not None and fast and (speed := speed_of(first)) is not None:
            rows.append(Edited(**vars(edit), speed=speed, gain=_gain(before, edit, speed, now)))
    return tuple(sorted((row for row in rows if row.gain >= least), key=lambda row: -row.gain))


def _gain(before: Estimate, edit: Edit, speed: Speed, now: float) -> float:
    """Factor of the decode speed; where it is of prompts, of the time of an answer."""
    if not edit.of_prompt:
        return speed.decode / now
    reply = float(before.work.output)
    first = float(before.first_token_seconds or 0.0)
    return (first + reply / now) / (speed.first_token + reply / speed.decode)


def changes_of(model: Model, machine: Machine, work: Workload, best: Estimate) -> Edits:
    """Every change that may make a placement faster; arguments as for `faster_changes`."""
    yield from _smaller_formats(machine, best)
    yield from _smaller_cache(work, best)
    yield from _format_and_cache(machine, work, best)
    if (drafted := drafted_work(model, work, best.runtime)) is not None:
        words = f"drafting by its own MTP layers ({drafted.drafted:g} tokens a step)"
        cost = f"{SAME_TEXT}; the file must hold them"
        yield Edit(words=words, cost=cost, changes={"work": drafted})
    yield from _idle_cards(machine)
    yield from _split_by_itself(best)
    yield from _left_on(work, best)
    yield from _expert_cache(best)
    yield from engine_in_tiers(machine, best)
    yield from _feed_forward(best)
    yield from _micro_batch(work, best)
    yield from _faster_memory(model, machine, best)
    yield from _faster_link(machine, best)
    yield from _other_read_ahead(machine, best)
    if machine.gpus:
        yield from _other_backend(machine, best)
        yield from _of_today(machine)
        yield from _more_of_shared_memory(machine)
    yield from _a_thread_each(machine)
    if best.runtime.binds_nodes:
        yield from _memory_nodes(machine, best)


def _smaller_formats(machine: Machine, best: Estimate) -> Edits:
    """Smaller formats that the runtime loads directly."""
    now = best.model
    steps = [(name, ANY_STEP if _loses_no_more(name) else NEAR) for name in SMALLER_FORMATS]
    for name, part in (*steps, *((name, ANY_STEP) for name in FEW_FORMATS)):
        with suppress(Refusal):
            loaded = best.runtime.loaded_format(name, machine).format == name
            if loaded:
                model = catalog.in_format(now.architecture, name)
            else:
                model = now
            if part * now.file_bytes < model.file_bytes < 0.97 * now.file_bytes:
                yield Edit(
                    words=f"{name} instead of {now.format}",
                    cost=f"{SOME_QUALITY}{_loss(name, now.format)}",
                    changes={"model": model},
                    loss=_accepted_loss(name, now.format),
                )


MILD = 3.05
"""Loss of a format, as a multiple of the present one's, up to which it is a free step: that of
Q3_K_M beside Q4_K_M, rounded. Formats that lose no more than Q4_K_M, which most people use, always
are."""
USUAL_LOSS = "Q4_K_M"


def _loses_no_more(name: str) -> bool:
    """Whether a format loses no more than the usual one, so that it is tried whatever is loaded."""
    rows = Format.losses()
    return name in rows and rows[name].kl_divergence <= rows[USUAL_LOSS].kl_divergence


def _accepted_loss(smaller: str, now: str) -> float | None:
    """Loss of a smaller format over the present one [nats]; None where more than people accept, or
    unknown.
    """
    rows = Format.losses()
    if smaller not in rows:
        return None
    lost = rows[smaller].kl_divergence
    before = rows[now].kl_divergence if now in rows else 0.0
    if lost <= max(MILD * before, rows[USUAL_LOSS].kl_divergence):
        return max(lost - before, 0.0)
    return None


def _loss(smaller: str, now: str) -> str:
    """Published loss of a smaller format as a multiple of the present one's; empty if unknown."""
    rows = Format.losses()
    if smaller not in rows or now not in rows:
        return ""
    times = rows[smaller].kl_divergence / rows[now].kl_divergence
    if smaller in LAST_RESORTS:
        last = ": a last resort"
    else:
        last = ""
    return f" ({number(times, 2)} times the loss of {now}, measured on {rows[smaller].model}{last})"


def _smaller_cache(work: Workload, best: Estimate) -> Edits:
    kind = best.runtime.quantized_kv_type
    if work.kv_type in ("f16", "bf16", "f32") and kind:
        lighter = replace(work, kv_type=kind)
        cost = 0.0 if kind in HARDLY_LOSSY_CACHES else None
        yield Edit(words=f"KV cache in {kind}", cost="free", changes={"work": lighter}, loss=cost)
    request = float(work.prompt) + float(work.output)
    shorter = max(float(work.context) / 2, request)
    if shorter < float(work.context):
        yield _context_of(shorter, work, "free")
    ample = next((length for length in LENGTHS if length >= AMPLE * request), math.inf)
    if ample < float(work.context):
        yield _context_of(ample, work, SAME_TEXT)


LENGTHS = (8192.0, 16384.0, 32768.0, 65536.0)
"""Contexts that are offered in place of longer ones [tokens]."""
AMPLE = 4.0
"""Requests that fit into a context from which it is offered in place of a longer one, so that a
conversation of some turns still fits; assumed."""


def _context_of(length: float, work: Workload, cost: str) -> Edit:
    words = f"context of {length:,.0f} tokens, if that is enough"
    return Edit(words=words, cost=cost, changes={"work": replace(work, context=length)})


DRAFTED = 2
"""Tokens that a model's own layers draft for a step: of one to four, two are fastest with llama.cpp
(https://github.com/ggml-org/llama.cpp/pull/22673, comment of 2026-05-05: 27.6, 29.4, 27.8 and 26.1
for 22.9 tokens/s; rows draft-1 to draft-4 of data/measurements/drafting.csv)."""


def drafted_work(model: Model, work: Workload, runtime: Runtime) -> Workload | None:
    """Request with drafts by the model's own layers; None where that changes nothing.

    It changes nothing where the model has no such layers, or where the runtime makes no drafts or
    makes them by default.
    """
    if work.draft or runtime.own_drafts or not runtime.drafts:
        return None
    usual = Draft.usual(Draft.MTP)
    accepted = usual.acceptance or 0.0
    drafted = replace(work, draft=Draft.MTP, drafted=DRAFTED, acceptance=accepted)
    with suppress(Refusal):
        drafted.check_heads(model)
        return drafted
    return None


HARDLY_LOSSY_CACHES = ("q8_0", "fp8")
"""Formats of the cache whose loss is below that of any format of weights: q8_0 0.002 of the
perplexity (https://github.com/ggml-org/llama.cpp/pull/7412, 2024-05); 8-bit floats degrade answers
"typically only minimally" (docs.vllm.ai, FP8 E4M3 KV cache; SGLang's page says the same,
2026-11-29)."""
LARGE_CACHE = 0.1  # share of the file from which a smaller cache beside a smaller format is tried


def _format_and_cache(machine: Machine, work: Workload, best: Estimate) -> Edits:
    """Smaller format and a smaller cache together, where both take room."""
    caches = [edit for edit in _smaller_cache(work, best) if edit.loss is not None]
    held = float(np.sum(best.model.kv_bytes(work.context, work.kv_type))) * float(work.users)
    if not caches or held < LARGE_CACHE * float(best.model.file_bytes):
        return
    for form in _smaller_formats(machine, best):
        if form.loss is not None:
            yield Edit(
                words=f"{form.words}, {caches[0].words}",
                cost=form.cost,
                changes={**form.changes, **caches[0].changes},
                loss=form.loss,
            )


CACHES_TRIED = 48  # sizes of a cache of experts that are tried


def _expert_cache(best: Estimate) -> Edits:
    """VRAM for the experts in RAM that were used last, of the size that is fastest; the gain of a
    cache turns on its hits, the link and the RAM.
    """
    able = best.runtime.caches_experts and best.runtime.takes_layers
    if not (_is_split(best) and able and best.model.has_experts):
        return
    if best.settings.expert_cache is None:
        most = float(np.max(best.machine.gpu_memory)) / GIB
        sizes = np.unique(np.linspace(1.0, max(most, 1.0), CACHES_TRIED).round())
        swept = best.again(settings=replace(best.settings, expert_cache=sizes * GIB))
        if swept.decode_tps is not None:
            speeds = np.where(swept.fits, np.nan_to_num(np.asarray(swept.decode_tps)), 0.0)
            size = float(sizes[np.argmax(np.broadcast_to(speeds, sizes.shape))])
            words = f"a cache of {size:g} GB in the GPU for the experts used last"
            yield _set(best, f"{words} (--moe-cache-mib)", expert_cache=size * GIB)


def _feed_forward(best: Estimate) -> Edits:
    """Feed-forward of the fewest layers in RAM that leaves room for all attention and the cache on
    the GPU, where whole layers of a dense model lie in RAM.
    """
    if not (_is_split(best) and best.runtime.parts_layers) or best.model.has_experts:
        return
    if best.settings.gpu_layers is None and best.settings.cpu_ffn is None:
        layers = np.arange(1.0, best.model.layers + 1.0)
        swept = best.again(settings=replace(best.settings, cpu_ffn=layers))
        fewest = next(iter(layers[np.broadcast_to(swept.fits, layers.shape)]), None)
        if fewest is not None:
            words = f"the feed-forward of {fewest:g} layers in RAM in place of whole layers"
            yield _set(best, f"{words} (-ncffn)", cpu_ffn=float(fewest))


def _split_by_itself(best: Estimate) -> Edits:
    """Edit that leaves a stated split to the engine: as many layers as fit in the GPUs, with the
    experts that do not fit in RAM.
    """
    now = best.settings
    if now.states_layers and best.machine.gpus:
        after = replace(now, gpu_layers=None, cpu_moe=None, cpu_ffn=None, counts_head=False)
        words = "as many layers in the GPU as fit"
        if best.model.has_experts:
            words = "all layers in the GPU, in RAM only the experts that do not fit"
            placed = best.again(settings=after).placement
            if placed is not None and np.any(placed.cpu_moe):
                words = f"{words}, those of {float(np.max(placed.cpu_moe)):g} layers"
        words = f"{words} (--gpu-layers left open)"
        yield _undone(words, settings=after)


def _idle_cards(machine: Machine) -> Edits:
    """Edit that puts cards to work that are owned and compute nothing."""
    if not machine.idle:
        return
    gpus = (*machine.gpus, *machine.idle)
    backend = _backend_of_all(gpus)
    cards = " and ".join(dict.fromkeys(gpu.name for gpu in machine.idle))
    through = f" through {backend.label}" if backend != machine.interface else ""
    joined = replace(machine, gpus=gpus, idle=(), backend=backend)
    words = f"your idle {cards} put to work{through}"
    yield _undone(words, machine=replace(joined, name=joined.parts_name))


def _backend_of_all(gpus: Sequence[Gpu]) -> Backend:
    """Backend that drives all cards.

    It is Vulkan, which no list of supported cards limits, but for cards of NVIDIA alone.
    """
    usual = {Backend.usual(gpu.vendor, OperatingSystem.WINDOWS) for gpu in gpus}
    if len(usual) == 1:
        return usual.pop()
    return Backend.VULKAN


def _left_on(work: Workload, best: Estimate) -> Edits:
    """Edits that turn flash attention on, or keep the cache in the GPU or its windows short, where
    somebody states otherwise.
    """
    stated: dict[str, Any] = {}
    words: list[str] = []
    if not work.flash_attention:
        words.append("flash attention on")
        stated["flash_attention"] = True
    if work.swa_full and np.isfinite(best.model.per_layer.windows).any():
        words.append("a KV cache of the sliding windows alone (without --swa-full)")
        stated["swa_full"] = False
    edits = [
        _undone(told, work=replace(work, **{name: value}))
        for told, (name, value) in zip(words, stated.items(), strict=True)
    ]
    every: dict[str, Any] = {"work": replace(work, **stated)} if stated else {}
    if best.settings.kv_in_ram and best.machine.gpus:
        words.append("the KV cache in the GPU (without --no-kv-offload)")
        inside = replace(best.settings, kv_in_ram=None)
        edits.append(_undone(words[-1], settings=inside))
        every["settings"] = inside
    yield from edits
    if len(edits) > 1:
        yield _undone(" and ".join(words), **every)


def _undone(words: str, **changes: Any) -> Edit:
    """Edit that removes a stated setting, so that the engine chooses it."""
    return Edit(words=words, cost=SAME_TEXT, changes=changes, undoes=True)


def _is_split(best: Estimate) -> bool:
    """Whether a model lies in a GPU and in RAM."""
    split = best.strategy is PlacementStrategy.CPU_OFFLOAD
    return split and bool(best.machine.gpus) and best.placement is not None


def _set(best: Estimate, words: str, **settings: float) -> Edit:
    changes = {"settings": replace(best.settings, **settings)}  # type: ignore[arg-type]
    return Edit(words=words, cost=SAME_TEXT, changes=changes)


LARGER_BATCH = 2048
"""Micro-batch that is offered: the largest that llama-server computes at once without `-b`
(tools/server/README.md) [tokens]."""
BATCH_SETTINGS = {"ollama": "num_batch", "lm-studio": "its evaluation batch size"}
"""Setting of the micro-batch in runtimes that have another than `-ub`."""


def _micro_batch(work: Workload, best: Estimate) -> Edits:
    """Longer parts of a prompt, for each of which what lies in RAM is copied to the GPU once."""
    if best.runtime.takes_layers and LARGER_BATCH > work.ubatch < float(work.fresh):
        setting = BATCH_SETTINGS.get(best.runtime.key, "-ub")
        yield Edit(
            words=f"prompts in parts of {LARGER_BATCH:,} tokens ({setting} {LARGER_BATCH})",
            cost=SAME_TEXT,
            changes={"work": replace(work, ubatch=LARGER_BATCH)},
            of_prompt=True,
        )


def _faster_memory(model: Model, machine: Machine, best: Estimate) -> Edits:
    fixed = machine.unified or memory_generation(machine.host.name).startswith("LP")
    if best.bottleneck == Route.IN_PLACE.limit and not fixed:
        faster = scaled(machine, "host.bandwidth", FASTER_RAM)
        yield _on(faster, "RAM 25 % faster", YOUR_PRICE, part=FAST_RAM)
    if best.strategy is not PlacementStrategy.NVME_OFFLOAD:
        if not (fixed or best.runtime.computes_in_ram) and best.again().tight:
            yield from _computed_in_ram(model, machine, best)
        return
    roomier = None if fixed else _with_enough_memory(machine, best)
    if roomier is not None:
        size = float(roomier.host.memory.value)
        what = "what the GPU does not" if machine.gpus else "the model"
        words = f"{size / GIB:,.0f} GB of RAM (to hold {what})"
        yield _on(roomier, words, YOUR_PRICE, part="ram", ram=size)
    if machine.disk is not None and machine.form in TAKES_DRIVES:
        striped = scaled(machine, "disk.sequential", 2.0)
        if machine.disk.mapped is not None:
            striped = scaled(striped, "disk.mapped", 2.0)
        yield _on(striped, "a second drive, striped with the first", YOUR_PRICE, part="drive")


def _computed_in_ram(model: Model, machine: Machine, best: Estimate) -> Edits:
    """RAM that holds a model for llama.cpp, where it is so tight that an engine runs it which
    copies its weights to the GPU for each token.
    """
    with suppress(Refusal):
        loaded = as_run(model, LLAMA_CPP, machine)
        settings = Settings()
        roomier = _with_enough_memory(
            machine, replace(best, model=loaded, runtime=LLAMA_CPP, settings=settings)
        )
        if roomier is not None:
            size = float(roomier.host.memory.value)
            yield Edit(
                words=f"{size / GIB:,.0f} GB of RAM (to hold what the GPU does not, in llama.cpp)",
                cost=YOUR_PRICE,
                changes={"machine": roomier, "runtime": LLAMA_CPP, "settings": settings},
                part="ram",
                ram=size,
            )


RAM_SIZES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Sizes that kits of 32 and 64 GB with a price on record add up to, and those of servers [GiB]."""


def _with_enough_memory(machine: Machine, best: Estimate) -> Machine | None:
    """Machine with the least RAM that holds what its GPUs do not; None where no size does."""
    memory = machine.host.memory
    for size in RAM_SIZES:
        if size * GIB > float(memory.value):
            host = replace(machine.host, memory=replace(memory, value=size * GIB))
            roomier = replace(machine, host=host)
            strategies = [each for each in best.runtime.strategies if each in IN_MEMORY]
            for strategy in strategies:
                run = best.again(machine=roomier, strategy=strategy)
                if not run.refusal and bool(run.fits):
                    return roomier
    return None


IN_MEMORY = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
"""Placements that read nothing from the drive."""
YOUR_PRICE = "your price"


def _on(machine: Machine, words: str, cost: str = "free", **part: Any) -> Edit:
    return Edit(words=words, cost=cost, changes={"machine": machine}, **part)


def _faster_link(machine: Machine, best: Estimate) -> Edits:
    """Full link of the card, where the slot has a slower one."""
    if best.bottleneck != Route.STREAMED.limit or machine.unified:
        return
    gpus = []
    for gpu in machine.gpus:
        link = gpu.link
        with suppress(UnknownName):
            link = max(link, from_catalog.gpu(gpu.name).link, key=lambda at: at.pinned.value)
        gpus.append(replace(gpu, link=link))
    if tuple(gpus) != machine.gpus:
        words = f"a slot with {gpus[0].link.name}, as the card can"
        yield _on(replace(machine, gpus=tuple(gpus)), words, YOUR_PRICE)


def _other_read_ahead(machine: Machine, best: Estimate) -> Edits:
    """Shorter read-ahead for experts, which are scattered, or longer for sequential reads."""
    disk = machine.disk
    if best.bottleneck != Route.PAGED.limit or disk is None:
        return
    now = disk.read_ahead
    if now.kind is not Provenance.MEASURED:
        return
    for size in READ_AHEAD:
        if size != now.value:
            drive = replace(disk, read_ahead=replace(now, value=size))
            words = f"read_ahead_kb of the drive at {size / KIB:.0f}, now {now.value / KIB:.0f}"
            yield _on(replace(machine, disk=drive), words)


def _other_backend(machine: Machine, best: Estimate) -> Edits:
    """Another backend of llama.cpp for the same card, with a driver of today."""
    now = Backend(machine.interface)
    if best.runtime.key not in BY_BACKEND or now == Backend.UNKNOWN:
        return
    for name in Backend.of_vendor(machine.gpus[0].vendor, machine.system):
        if name != now:
            words = f"{name.label} in place of {now.label}"
            yield _on(replace(machine, backend=name, driver=""), words, "free, another build")


def _of_today(machine: Machine) -> Edits:
    """Driver, or a build of llama.cpp, of today in place of a stated older one."""
    if machine.effect_of_driver() is not None:
        words = f"a graphics driver of today in place of {machine.stated_driver}"
        yield _on(replace(machine, driver=""), words, "free, an update")
    build = Build(machine.build)
    if build.kernels(machine.interface) or build.effects:
        words = f"llama.cpp of today in place of {build}"
        yield _on(replace(machine, build=""), words, "free, an update")


def _more_of_shared_memory(machine: Machine) -> Edits:
    """All memory but the system's for a GPU that shares it, where a setting gives it that."""
    if (with_more := raised(machine)) is not None:
        roomier, setting = with_more
        words = f"more of the shared memory for the GPU: {setting}"
        yield _on(roomier, words, "free, until the next start")


def _a_thread_each(machine: Machine) -> Edits:
    """Edit to one thread for each core, as llama.cpp takes by default, where another number is
    stated.
    """
    host = machine.host
    if host.threads is None or host.cores_there is None:
        return
    cores = host.cores_there // (host.sockets if NumaPolicy.on_one_node(host.numa) else 1)
    if host.threads != cores:
        alike = replace(host, cores=cores, threads=cores, thread_excess="")
        words = f"{cores} threads, one on each core, in place of {host.threads}"
        yield _on(replace(machine, host=alike), words)


def _memory_nodes(machine: Machine, best: Estimate) -> Edits:
    """Weights spread over the memory of several sockets, or one socket alone where it holds them.

    A host on which llama.cpp was timed has no figure for other policies.
    """
    host = machine.host
    if host.sockets < 2 or host.engine is not None:
        return
    fits = best.model.file_bytes <= ROOM * float(host.memory.value) / host.sockets
    policies = (
        (
            "distribute",
            host.numa != "distribute",
            "threads and pages on all sockets",
            "free, after dropping the page cache",
        ),
        (
            "isolate",
            not NumaPolicy.on_one_node(host.numa) and fits,
            "one socket alone, with its own memory",
            "free, the other cores idle",
        ),
    )
    for policy, able, meaning, cost in policies:
        if able:
            words = f"{meaning} (--numa {policy})"
            yield _on(replace(machine, host=replace(host, numa=policy)), words, cost)


def smaller_format(changes: Iterable[Edited], reading_tps: float, least: float) -> Edited | None:
    """Smaller format that loses least quality and keeps up with reading; the fastest acceptable one
    where none keeps up.
    """
    mild = sorted(
        (
            each
            for each in changes
            if each.of_format
            and each.gain >= least
            and each.changes["model"].format not in LAST_RESORTS
        ),
        key=lambda each: each.gain,
    )
    enough = (each for each in mild if each.speed.decode >= reading_tps)
    return next(enough, mild[-1] if mild else None)
