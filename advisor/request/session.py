"""Session: a conversation of an agent, whose every turn sends what went before again.

    prompt of turn k:  P(k) = first + (k - 1) (added + reply)
    before it:         P(k) - added, of which a share is cached still
    context:           P(turns) + reply

Where a shorter context is stated, an agent shortens its conversation whenever it fills that, and
begins again with a prompt as long as the first.

Shapes of public agent benchmarks are in data/sessions.csv.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.model.model import Floats
from advisor.units import GIB

PAGE = 256  # step of the contexts that are asked for [tokens]


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionShape:
    """One row of data/sessions.csv: lengths that an agent sends and writes on average."""

    name: str
    about: str
    turns: int
    first_prompt: float  # prompt of the first turn: instructions, tools and task [tokens]
    turn_tokens: float  # added before each further turn by tools and by the user [tokens]
    reply: float  # written in a turn [tokens]
    source: str
    source_date: str


@cache
def shapes() -> Mapping[str, SessionShape]:
    """Shapes of sessions by name."""
    return {row.name: row for row in read(DATA / "sessions.csv", SessionShape)}


@dataclass(frozen=True, kw_only=True)
class AgentSession:
    """Conversation of an agent, with the part that its server keeps.

    Raises:
        InputError: a number outside its limits, or more cached tokens than the first prompt has.
    """

    turns: int
    first: float  # prompt of the first turn [tokens]
    added: float  # added before each further turn by tools and by the user [tokens]
    reply: float  # written in a turn [tokens]
    cached: float = 0.0  # part of the first prompt that is cached already [tokens]
    # share of what went before that is cached still at the next turn; None by runtime and model
    kept: float | None = None
    agents: float = 1.0  # agents side by side, each with a session of its own
    slots: int | None = None  # conversations that the server holds; None for one per agent
    # RAM for conversations beyond the slots; None for what the runtime has by itself [B]
    spare: float | None = None
    drive: float = 0.0  # space for them on the drive [B]
    shape: SessionShape | None = None  # row that it is taken from
    # context at which a conversation is shortened; None where it grows to its end [tokens]
    limit: float | None = None

    def __post_init__(self) -> None:
        numbers = {"turns": self.turns, "turn_tokens": self.added, "slots": self.slots}
        INPUTS.check(numbers)
        INPUTS["cached_share"].check(self.kept)
        most = INPUTS["context"].high or 0.0
        if self.context > most:
            raise InputError(
                f"The conversation of a session grows to {self.context:,.0f} tokens; at most "
                f"{most:,.0f} are counted. Lower --turns, --turn-tokens or --output."
            )
        if self.cached > self.first:
            raise InputError(
                f"cached is {self.cached:g}, more than the first prompt of {self.first:g} tokens; "
                "lower it or raise the prompt."
            )

    @property
    def turns_held(self) -> int:
        """Number of turns that fill the context, after which the conversation is shortened; all
        turns where they fit.

        n = floor((limit - first - reply) / (added + reply)) + 1
        """
        if self.limit is None:
            return self.turns
        room = self.limit - self.first - self.reply
        return min(int(room // (self.added + self.reply)) + 1, self.turns)

    @property
    def shortened(self) -> int:
        """Number of times that a conversation is shortened."""
        return (self.turns - 1) // self.turns_held

    @property
    def _in_conversation(self) -> Floats:
        """Turns before each one since the conversation began or was shortened."""
        return np.asarray(np.arange(self.turns, dtype=np.float64) % self.turns_held)

    @property
    def prompts(self) -> Floats:
        """Prompt of each turn [tokens]."""
        return np.asarray(self.first + self._in_conversation * (self.added + self.reply))

    @property
    def before(self) -> Floats:
        """Part of each prompt that an earlier turn read or wrote; where a conversation begins or
        was shortened, the part that is cached already [tokens].
        """
        return np.where(self._in_conversation > 0, self.prompts - self.added, self.cached)

    @property
    def context(self) -> float:
        """Length of the conversation at its longest, in whole pages [tokens]."""
        end = float(np.max(self.prompts)) + self.reply
        return float(np.ceil(end / PAGE) * PAGE)

    @property
    def together(self) -> float:
        """Agents that the server answers at once."""
        return min(self.agents, self.slots or self.agents)

    def work(self, base: Workload, cached: Floats) -> Workload:
        """Requests of all turns with their cached tokens; `base` has the values that no session
        states.
        """
        return base.with_numbers(**self._of_all(base), prompt=self.prompts, cached=cached)

    def middle(self, base: Workload) -> Workload:
        """Request of the middle turn, which represents the session wherever one reply is needed.

        Its earlier turns are cached, all of them or the stated share. The first turn has only the
        tokens that are stated to be cached already.
        """
        turn = (self.turns_held - 1) // 2
        prompt = float(self.prompts[turn])
        before = float(self.before[turn])
        if turn == 0 or self.kept is None:
            cached = before
        else:
            cached = round(self.kept * before)
        return replace(base, **self._of_all(base), prompt=prompt, cached=cached)

    def _of_all(self, base: Workload) -> dict[str, Any]:
        context = max(self.limit or self.context, float(base.context))
        return {"output": self.reply, "context": context, "users": self.together}


PARTS = ("turn_tokens", "slots", "spare_ram_gb", "spare_drive_gb")
"""Inputs that mean nothing without a session."""


def session_of(values: Mapping[str, Any], usual: Mapping[str, Any]) -> AgentSession | None:
    """Session of a request's values; None for a single reply.

    With a named shape, its figures count wherever the request has usual ones. Without a shape, the
    first prompt and the reply are the request's, and turns and their tokens must be stated.

    Raises:
        UnknownName: no such shape.
        InputError: a session that is stated in part.
    """
    name = values["session"]
    parts = [key for key in PARTS if values[key] is not None]
    single = name is None and values["turns"] is None
    if single and not parts:
        return None
    names = ", ".join(shapes())
    if single:
        raise InputError(
            f"{INPUTS[parts[0]].option} belongs to a session; say how many turns it has with "
            f"--turns, or name a shape with --session ({names})."
        )
    if name is not None and name not in shapes():
        raise UnknownName("session", name, shapes(), f"Known are {names}.")
    if any(np.ndim(values[key]) for key in ("prompt", "output", "cached", "users")):
        raise InputError("A session has one length; ask once for each of several.")
    shape = shapes().get(name)

    def of(key: str, field: str) -> Any:
        if shape and values[key] == usual[key]:
            return getattr(shape, field)
        return values[key]

    turns = of("turns", "turns")
    added = of("turn_tokens", "turn_tokens")
    if turns is None or added is None:
        raise InputError(
            "A session needs its turns (--turns) and the tokens that tools and you add in each "
            f"(--turn-tokens); give both, or a shape (--session): {names}."
        )
    spare = values["spare_ram_gb"]
    session = AgentSession(
        turns=turns,
        added=added,
        first=of("prompt", "first_prompt"),
        reply=of("output", "reply"),
        cached=values["cached"],
        kept=values["cached_share"],
        agents=values["users"],
        slots=values["slots"],
        spare=None if spare is None else spare * GIB,
        drive=(values["spare_drive_gb"] or 0.0) * GIB,
        shape=shape,
    )
    return _within(session, values["context"], usual["context"])


def _within(session: AgentSession, context: Any, usual: Any) -> AgentSession:
    """Session in a stated context that holds its first turns, and not all of them."""
    stated = np.ndim(context) == 0 and context != usual
    two_turns = session.first + session.added + 2.0 * session.reply
    if not stated or not two_turns <= context < session.context:
        return session
    return replace(session, limit=float(context))


def cached_tokens(prompt: float, tokens: float | None, share: float | None) -> float:
    """Cached part of a prompt, stated in tokens or as a share; 0 where neither is [tokens].

    Raises:
        InputError: both are stated, or the share is outside its limits.
    """
    entry = INPUTS["cached_share"]
    entry.check(share)
    if share is None:
        return tokens or 0
    if tokens:
        raise InputError(
            f"The cached part of the prompt is stated twice, as {tokens:g} tokens and as a share "
            f"of {share:g}; give --cached or {entry.option}, not both."
        )
    return round(share * prompt)
