"""Task of an agent: time of a session, its repeated reading, and what would save time.

    time of turn k = prompt of P(k) tokens, of which c (P(k) - added) are cached
                     + reply / speed at that context
                     + what was cached / link, where it waited in RAM or on the drive for a slot
    task           = sum over the turns, times agents over those answered at once
    reading again  = time of the prompts - their time if all that went before were cached

All turns are one estimate on arrays. What a server keeps is in data/runtimes/prefix_caches.csv.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.advice.edits.changes import (
    LAST_RESORTS,
    SAME_TEXT,
    SLOT_FOR_EACH,
    SOME_QUALITY,
    changes_of,
)
from advisor.advice.edits.edit import Edit, placements
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.choice import AS_GOOD, NOTABLE
from advisor.advice.table.option import FREE
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.uncertainty import Range
from advisor.formatting import percent
from advisor.lazy import lazy
from advisor.machine.machine import Host, Machine
from advisor.model.model import Floats, Model
from advisor.request.session import AgentSession
from advisor.units import GIB, MIB, Array, number, seconds

RECURRENT = "recurrent"
WINDOW = "window"
ATTENTION = "attention"
"""Kinds of layers, the first of which a model has decides what of its cache can be kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefixCache:
    """One row of data/runtimes/prefix_caches.csv: part of a conversation that a runtime keeps."""

    runtime: str
    layers: str  # kind of layers that it holds for
    kept: float  # share of what went before that the next turn finds, as the runtime is
    step: float  # it is kept in whole steps of so many tokens [tokens]
    spare_gib: float | None = None  # memory for conversations beyond its slots [GiB]; None for none
    # setting for more of that memory, of so many {mib}, {gib} or {gb}; empty where none is known
    spare_setting: str = ""
    # setting that holds them on the drive too, with {bytes} of RAM on the way; empty for none
    drive_setting: str = ""
    spare_replies: bool = True  # replies come back from there too; else each is read again
    above_gpu: bool = False  # its RAM for them must be more than the cache on the GPUs
    setting: str = ""  # setting that keeps it; empty where none is known, or it is kept
    source: str = ""
    source_date: str = ""
    note: str = ""


@cache
def prefix_caches() -> Mapping[tuple[str, str], PrefixCache]:
    """Rows by runtime and kind of layers."""
    rows = read(DATA / "runtimes/prefix_caches.csv", PrefixCache)
    return {(row.runtime, row.layers): row for row in rows}


def kind_of_layers(model: Model) -> str:
    """Kind of a model's layers, which decides how much of its cache can be kept."""
    if np.any(model.per_layer.state_values > 0):
        return RECURRENT
    if np.any(np.isfinite(model.per_layer.windows)):
        return WINDOW
    return ATTENTION


def prefix_cache(runtime: Runtime, model: Model) -> PrefixCache:
    """Part of a model's conversation that a runtime keeps, by its row or that of its engine.

    Without a row windows are as attention, attention is kept, and states are read again.
    """
    kind = kind_of_layers(model)
    rows = prefix_caches()
    kinds = (WINDOW, ATTENTION) if kind == WINDOW else (kind,)
    for layers in kinds:
        for name in (runtime.name, runtime.key, runtime.engine):
            if (name, layers) in rows:
                return rows[name, layers]
    kept = float(kind != RECURRENT)
    return PrefixCache(runtime=runtime.key, layers=kind, kept=kept, step=1.0)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Setting that costs no money, with the time that it saves."""

    edit: Edit
    seconds: float  # of the task, less than now [s]
    then: "Task"  # task after it

    @property
    def speed(self) -> Speed | None:
        """Speed of a middle turn after it."""
        turns = self.then.turns
        return speed_of(turns.again(work=self.then.session.middle(turns.work)))

    @property
    def lost(self) -> float:
        """Quality that its format loses [nats]; infinite where that is more than people accept, or
        where the agent reads less of its text.
        """
        cost = self.edit.cost
        if self.edit.loss is not None:
            return self.edit.loss
        loses = cost in (FREE, BY_THE_AGENT) or cost.startswith(SOME_QUALITY)
        if loses:
            return math.inf
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Task:
    """Answer to a session, in one runtime and placement."""

    session: AgentSession
    turns: Estimate  # all turns, as one estimate on arrays
    machine: Machine  # machine of the turns
    keeps: PrefixCache  # what its runtime keeps
    together: float  # agents answered at once
    # where conversations wait for a slot; None where they evict one another
    waits: Tier | None

    @property
    def evicted(self) -> bool:
        """Whether the conversations of several agents push one another out of the cache."""
        return self.waits is None

    @property
    def kept(self) -> float:
        """Share of the earlier conversation that is still cached."""
        if self.session.kept is not None:
            return self.session.kept
        if self.evicted:
            return 0.0
        return self.keeps.kept

    @lazy
    def context(self) -> Floats:
        """Length of the conversation in the middle of each reply [tokens]."""
        return self.session.prompts + self.session.reply / 2

    @lazy
    def reading(self) -> Floats:
        """Time of each turn's prompt [s]."""
        return self._each(self.turns.prompt.total if self.turns.prompt else np.nan)

    @lazy
    def writing(self) -> Floats:
        """Time of each turn's reply [s]."""
        return self.session.reply / self.decode_tps

    @lazy
    def copying(self) -> Floats:
        """Time of each turn to copy its conversation back to the GPU after another user had its
        slot [s].
        """
        gpus = self.machine.gpus
        disk = self.machine.disk
        work = self.turns.work
        if self.waits in (None, Tier.VRAM) or not gpus:
            return np.zeros(self.session.prompts.shape)
        moved = np.sum(self.turns.model.kv_bytes(self._each(work.cached), work.kv_type), axis=-1)
        rate = gpus[0].link.pinned.value
        if self.waits is Tier.DISK and disk is not None:
            rate = min(rate, disk.sequential.value)
        return np.asarray(moved * self.together / rate)

    @lazy
    def rereading(self) -> Floats:
        """Part of each turn's prompt time in which the model reads earlier text again [s]."""
        before = np.maximum(self.session.before, np.asarray(self.turns.work.cached))
        work = self.session.work(self.turns.work, before)
        whole = replace(self.turns, work=work, planned=None)
        alone = self._each(whole.prompt.total if whole.prompt else np.nan)
        return np.maximum(self.reading - alone, 0.0)

    @property
    def decode_tps(self) -> Floats:
        """Speed of each reply [tokens/s]."""
        return self._each(self.turns.decode_tps)

    @property
    def prefill_tps(self) -> Floats:
        """Speed of each prompt, of the tokens that are read [tokens/s]."""
        fresh = np.maximum(self.session.prompts - np.asarray(self.turns.work.cached), 1.0)
        return np.asarray(fresh * self.together / self.reading)

    @property
    def rounds(self) -> float:
        """Number of rounds in which the server answers all agents."""
        return self.session.agents / self.together

    @lazy
    def seconds(self) -> float:
        """Time of the task for an agent, waiting for the others included [s]."""
        return float(np.sum(self.reading + self.writing + self.copying)) * self.rounds

    @lazy
    def range(self) -> Range:
        """Time of the task, with prompts and replies at the ends of their ranges [s]."""
        reads = self.turns.prefill
        writes = self.turns.decode
        if reads is None or writes is None:
            return Range(value=self.seconds, low=np.nan, high=np.nan)

        def at(read: Array, wrote: Array) -> float:
            turns = self.reading * reads.value / read + self.writing * writes.value / wrote
            return self.rounds * float(np.sum(turns + self.copying))

        low = at(reads.high, writes.high)
        high = at(reads.low, writes.low)
        return Range(value=self.seconds, low=low, high=high)

    @lazy
    def reread_share(self) -> float:
        """Share of the task that goes to reading again."""
        return float(np.sum(self.rereading)) * self.rounds / self.seconds

    @lazy
    def every_save(self) -> tuple[Saved, ...]:
        """Settings that cost no money, each with the time that it saves."""
        return tuple(
            Saved(edit=edit, seconds=self.seconds - after.seconds, then=after)
            for edit, after in _after_each(self)
        )

    @lazy
    def saves(self) -> tuple[Saved, ...]:
        """Settings that save most time and cost no money, at most `MOST_SAVES`.

        Of several of a kind, such as formats, it is the one that saves most.
        """
        least = LEAST_SAVED * self.seconds
        able = (each for each in self.every_save if each.seconds >= least)
        most = sorted(able, key=lambda it: it.seconds)
        named = {"format" if each.edit.of_format else each.edit.words: each for each in most}
        return tuple(sorted(named.values(), key=lambda it: -it.seconds)[:MOST_SAVES])

    @property
    def notable(self) -> Saved | None:
        """Setting that shortens the task most, or nearly as much at less loss; None where none
        shortens it by much.
        """
        able = [each for each in self.every_save if self.seconds >= NOTABLE * self.after(each)]
        least = min(map(self.after, able), default=0.0)
        near = [each for each in able if self.after(each) <= AS_GOOD * least]
        return min(near, key=lambda each: (each.lost, self.after(each)), default=None)

    def after(self, saved: Saved) -> float:
        """Time of the task with a setting [s]."""
        return self.seconds - saved.seconds

    def _each(self, value: object) -> Floats:
        return np.broadcast_to(np.asarray(value, dtype=float), self.session.prompts.shape)


MOST_SAVES = 3
LEAST_SAVED = 0.01
"""Settings that are named, and the share of the task that one must save."""


def task_of(estimate: Estimate, session: AgentSession) -> Task | None:
    """Task of a session, in the runtime and placement of an estimate of any request; None where it
    does not fit.
    """
    keeps = prefix_cache(estimate.runtime, estimate.model)
    task = _task(estimate, session, keeps, Tier.VRAM)
    if task is None or task.rounds == 1.0:
        return task
    waits = Tier.RAM if session.kept is not None else _where_they_wait(task)
    return _task(estimate, session, keeps, waits)


def _where_they_wait(task: Task) -> Tier | None:
    """Memory that holds the conversations without a slot; None where none does."""
    session = task.session
    keeps = task.keeps
    free = _free_ram(task)
    spare = (keeps.spare_gib or 0.0) * GIB
    if session.spare is not None and keeps.spare_setting:
        spare = min(session.spare, free)
    if _in_ram(task, Tier.RAM) <= spare:
        return Tier.RAM
    if keeps.drive_setting and task.machine.disk:
        drive = session.drive
    else:
        drive = 0.0
    fits = _waiting(task) <= drive and _in_ram(task, Tier.DISK) <= free
    if fits:
        return Tier.DISK
    return None


def _waiting(task: Task) -> float:
    """Cache of the conversations that have no slot, when they are longest [B]."""
    return _conversation(task) * (task.session.agents - task.together)


def _conversation(task: Task) -> float:
    """Cache of a conversation at its end [B]."""
    return float(np.sum(task.turns.model.kv_bytes(task.session.context, task.turns.work.kv_type)))


def _in_ram(task: Task, waits: Tier) -> float:
    """RAM for the conversations that wait there, or that come through it from the drive [B]."""
    turns = task.turns
    if waits is Tier.RAM:
        size = _waiting(task)
    else:
        size = _conversation(task) * task.together
    if not task.keeps.above_gpu or turns.placement is None:
        return size
    left = sum(
        float(
            np.max(gpu.memory.value - turns.placement.weight_bytes(turns.model, Location.vram(at)))
        )
        for at, gpu in enumerate(task.machine.gpus)
    )
    return max(size, left)


def held_by(task: Task, waits: Tier) -> str:
    """Settings of the runtime that keep waiting conversations; empty where it has none."""
    keeps = task.keeps
    gpus = len(task.machine.gpus) or 1
    size = float(np.ceil(_in_ram(task, waits) / GIB)) * GIB
    if waits is Tier.DISK:
        setting = keeps.drive_setting
    else:
        setting = keeps.spare_setting
    return setting.format(
        mib=f"{size / MIB:.0f}",
        gib=f"{size / GIB:.0f}",
        gb=f"{np.ceil(size / gpus / 1e9):.0f}",
        bytes=f"{size:.0f}",
    )


def _free_ram(task: Task) -> float:
    """RAM beside what the system and the model take [B]."""
    taken = sum(float(np.max(size)) for size in task.turns.held.get(Tier.RAM, ()))
    return float(task.machine.host.memory.value) - Host.SYSTEM_RAM - taken


def _task(
    estimate: Estimate, session: AgentSession, keeps: PrefixCache, waits: Tier | None
) -> Task | None:
    """Task with the conversations kept, waiting elsewhere, or evicted by those of other agents."""
    share = session.kept
    before = session.before
    if share is None:
        share = 0.0 if waits is None else keeps.kept
        if waits is not Tier.VRAM and not keeps.spare_replies:
            before = np.maximum(before - session.reply, 0.0)
    kept = np.floor(share * before / keeps.step) * keeps.step
    first = np.arange(session.turns) == 0
    work = session.work(estimate.work, np.where(first, session.cached, kept))
    turns = estimate.again(work=work)
    if turns.decode_tps is None or not bool(np.all(turns.fits)):
        return None
    together = float(np.min(turns.work.users))
    return Task(
        session=session,
        turns=turns,
        machine=turns.machine,
        keeps=keeps,
        together=together,
        waits=waits,
    )


def best_task(before: Estimate, session: AgentSession) -> Task | None:
    """Task in the first placement that fits, which is the fastest; None where none does."""
    tasks = (task_of(placement, session) for placement in placements(before))
    return next(filter(None, tasks), None)


def _after_each(now: Task) -> Iterator[tuple[Edit, Task]]:
    """Free edits, each with the task after it."""
    session = now.session
    present = replace(now.turns, work=session.middle(now.turns.work))
    fastest = best_task(present, session)
    if fastest is None or fastest.turns.strategy is not now.turns.strategy:
        return
    free = [
        edit
        for edit in changes_of(present.model, now.machine, present.work, present)
        if edit.cost.startswith("free")
        and getattr(edit.changes.get("model"), "format", "") not in LAST_RESORTS
    ]
    for edit in (*_of_session(now), *free):
        fields = dict(edit.changes)
        changed = fields.pop(SESSION, session)
        after = best_task(replace(present, **fields), changed)
        if after is not None:
            yield edit, after


BY_THE_AGENT = "free, by your agent's settings"  # cost of what the agent then reads less of
SESSION = "session"  # field of an edit that changes the session itself


def _of_session(now: Task) -> Iterator[Edit]:
    """Edits of the session: its prefix kept, a slot for each agent, shorter results of tools."""
    session = now.session
    keeps = now.keeps
    if now.rounds > 1.0 and session.slots is not None:
        yield Edit(
            words=f"{SLOT_FOR_EACH} of the {session.agents:g} agents",
            cost="free, if the memory holds them",
            changes={SESSION: replace(session, slots=None)},
        )
        yield from _in_smaller_slots(now)
    held = replace(session, spare=_in_ram(now, Tier.RAM), drive=_waiting(now))
    if now.evicted and (waits := _where_they_wait(replace(now, session=held))):
        if waits is Tier.RAM:
            place = "in RAM"
        else:
            place = "on the drive"
        yield Edit(
            words=f"evicted conversations held {place} ({held_by(now, waits)})",
            cost=f"free, if the {place.rpartition(' ')[2]} holds them",
            changes={SESSION: held},
        )
    if session.kept is None and keeps.setting and keeps.kept < 1.0:
        yield _prefix_kept(now)
    if session.kept is not None and session.kept < keeps.kept:
        yield Edit(
            words=f"{now.turns.runtime.name}'s prefix cache on",
            cost=SAME_TEXT,
            changes={SESSION: replace(session, kept=None)},
        )
    if session.added >= 2.0:
        yield Edit(
            words=f"results of tools half as long, {number(session.added / 2)} tokens a turn",
            cost=BY_THE_AGENT,
            changes={SESSION: replace(session, added=session.added / 2)},
        )


def _prefix_kept(now: Task) -> Edit:
    """Edit that keeps the prefix of a conversation, with a slot of its own where agents that share
    stated slots evict one another.
    """
    session = now.session
    words = f"the prefix kept: {now.keeps.setting}"
    if not now.evicted or session.slots is None:
        return Edit(words=words, cost=SAME_TEXT, changes={SESSION: replace(session, kept=1.0)})
    return Edit(
        words=f"{SLOT_FOR_EACH} of the {session.agents:g} agents, and {words}",
        cost="free, if the memory holds them",
        changes={SESSION: replace(session, slots=None, kept=1.0)},
    )


def _in_smaller_slots(now: Task) -> Iterator[Edit]:
    """Slot for each agent, with a smaller cache so that the memory holds more of them."""
    kind = now.turns.runtime.quantized_kv_type
    if kind and now.turns.work.kv_type in ("f16", "bf16", "f32"):
        session = now.session
        work = session.middle(now.turns.work)
        yield Edit(
            words=f"{SLOT_FOR_EACH} of the {session.agents:g} agents, KV cache in {kind}",
            cost="free, if the memory holds them",
            changes={
                SESSION: replace(session, slots=None),
                "work": replace(work, kv_type=kind),
            },
        )


def sentences(task: Task) -> Sequence[str]:
    """Sentences on the task: its time, the text that is read again, and what the runtime keeps."""
    session = task.session
    if session.shape:
        shape = f" ({session.shape.name})"
    else:
        shape = ""
    lines = [
        f"A session of {session.turns} turns{shape} takes {seconds(task.seconds)}, "
        f"{percent(task.reread_share)} of it reading again what went before; it ends at "
        f"{number(float(np.max(session.prompts)) + session.reply)} tokens."
    ]
    if session.shortened:
        lines.append(
            f"The agent shortens its conversation {number(session.shortened)} times, where it "
            f"fills the stated context of {number(session.limit or 0.0)} tokens."
        )
    if task.rounds > 1.0:
        lines.append(
            f"{task.together:g} of {session.agents:g} agents are answered at once"
            + (", and each evicts another's conversation." if task.evicted else ".")
        )
        lines.extend(_waiting_words(task))
    if session.kept is None and task.keeps.kept < 1.0:
        lines.append(
            f"{task.turns.runtime.name} reads the conversation of this model again on every turn"
            f"{f': {task.keeps.note}' if task.keeps.note else ''}. Where your server's log "
            "shows otherwise, state the share that is cached (--cached-share)."
        )
    return lines


def _waiting_words(task: Task) -> Iterator[str]:
    """Sentences on the memory in which conversations wait: the settings for it, and the effect on a
    first token.
    """
    session = task.session
    runtime = task.turns.runtime.name
    if task.waits in (Tier.RAM, Tier.DISK):
        middle = (session.turns - 1) // 2
        if task.waits is Tier.RAM:
            place = "in RAM"
        else:
            place = "on the drive"
        setting = held_by(task, task.waits)
        yield (
            f"The others wait {place}{f' ({setting})' if setting else ''}: the first token of the "
            f"middle turn comes after {seconds(float((task.reading + task.copying)[middle]))}, "
            f"{seconds(float(task.copying[middle]))} of it to bring the conversation back."
        )
    elif session.spare or session.drive:
        needed, free = (
            number(np.ceil(size / GIB)) for size in (_in_ram(task, Tier.RAM), _free_ram(task))
        )
        if task.keeps.above_gpu:
            more = ", as much as its cache on the GPUs,"
        else:
            more = ""
        setting = f"in RAM that takes {needed} GB{more} of {free} GB that are free"
        none = "it has no documented setting for it with this model"
        yield (
            f"The memory that is stated does not hold the conversations that wait in {runtime}: "
            f"{setting if task.keeps.spare_setting else none}."
        )
