"""Ways to improve an answer: another model, a smaller format, a bigger GPU, rent or API."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.decision import IN_TIME, KEEP, SWITCH_OFF, UNDONE_SETTING
from advisor.advice.edits.changes import SOME_QUALITY, smaller_format
from advisor.advice.edits.edit import Edited
from advisor.advice.edits.in_tiers import SAME_MODEL
from advisor.advice.finder.runnable import JOINED, Standing, rating
from advisor.advice.judgement import LEAST, Judgement, judgement
from advisor.advice.situation import STOPS_THINKING
from advisor.advice.table import choice as chosen
from advisor.advice.table.option import Option, OptionKind, by_comparison
from advisor.advice.table.options import BY_THE_MONTH
from advisor.advice.table.turning import of_an_hour
from advisor.advice.words.phrases import hours_rented, name_in_place, plain
from advisor.advice.words.remarks import in_case
from advisor.advice.words.verdict import Advice
from advisor.advice.words.ways import YOUNG
from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.formatting import capitalised, hours, money
from advisor.machine.catalog import HOSTS, MACHINES
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.request.request import Nouns, Request
from advisor.request.wants import Think
from advisor.ui.parts import tabs
from advisor.ui.parts.markup import block, head, joined, press
from advisor.ui.question import current, inputs
from advisor.units import GIB, memory, number, seconds

COSTS = "What it costs"  # title of the tab that the dearer ways lead to
NONE = "none"  # price tag of a way that does not help
PROVIDERS = {
    "openrouter": "OpenRouter",
    "novita": "Novita",
    "together": "Together AI",
    "groq": "Groq",
    "ovhcloud": "OVHcloud",
    "deepseek": "DeepSeek",
    "fireworks": "Fireworks",
    "zai": "Z.ai",
    "cloudflare": "Cloudflare",
    "mistral": "Mistral",
    "doubleword": "Doubleword",
}
"""Providers of APIs as they spell themselves, by their name among prices."""
EVEN = "even swap"  # price of a card that costs no more than the one it replaces is sold for
MOST_FREE = 2  # most free ways that are shown
NOTABLE = 1.15
WORTH_QUALITY = 1.5
"""Factors of speed from which a smaller format is offered: below and at reading speed."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """Way to improve a slow answer."""

    name: str  # what it is
    price: str  # its price tag
    figure: str  # what it gives
    text: str  # one sentence
    action: str  # words on its button
    # inputs that the button changes; empty to open the costs
    changes: Mapping[str, Any] = field(default_factory=dict)


def ways(answer: Answer) -> list[Way]:
    """Ways that help, in their order: a decided setting first, two free ones at most, and always
    the bigger GPU.
    """
    able = [_another_model(answer), _free_setting(answer), _another_engine(answer)]
    thoughtless = _thinking_beside(answer)
    if answer.advice.decision.rule == UNDONE_SETTING or thoughtless is not None:
        able[:2] = reversed(able[:2])
    able.insert(1, thoughtless)
    free = [way for way in able if way is not None][:MOST_FREE]
    return [way for way in (*free, _bigger(answer), _elsewhere(answer)) if way is not None]


def row(answer: Answer, offered: Sequence[Way]) -> Markup:
    """Cards of the ways, under a heading; each presses the button of its place."""
    level = _level(answer)
    free = any(way.price == "free" for way in offered)
    helping = sum(way.price != NONE for way in offered)
    stays = answer.advice.decision.rule in (KEEP, IN_TIME, SWITCH_OFF)
    settled = stays and (level is Judgement.FASTER or (level.enough and not free))
    count = ("No way", "One way", "Two ways", "Three ways", "Four ways")[helping]
    if settled:
        title = "Nothing needs to change"
    elif answer.nouns.request.nowhere:
        title = f"{count} to run it"
    else:
        title = f"{count} to make it better"
    cards = joined(_card(place, way) for place, way in enumerate(offered))
    return block("oa-section", title, "h2") + block("oa-cards oa-better", cards)


def _card(place: int, way: Way) -> Markup:
    if way.price == "free":
        tone = "good"
    else:
        tone = "partly"
    parts = (
        head(way.name, way.price, tone),
        block("oa-gives", way.figure),
        block("oa-soft", way.text, "p"),
        press(f"take_{place}", way.action),
    )
    return block("oa-card", joined(parts))


def actions(
    offered: Sequence[Way], open_tab: Callable[[str], None]
) -> dict[str, Callable[[], None]]:
    """Actions of the cards, by their keys; a card that changes nothing opens a tab by its title."""
    return {
        f"take_{place}": partial(current.change, f"{way.name}: {way.action}", **way.changes)
        if way.changes
        else partial(open_tab, COSTS)
        for place, way in enumerate(offered)
    }


def _level(answer: Answer) -> Judgement:
    """Speed words of the verdict."""
    return answer.advice.summary.judgement


def _another_model(answer: Answer) -> Way | None:
    """Model that is rated as well and faster here."""
    row = answer.advice.another_model
    told = ""
    if row is None:
        row = answer.advice.closest
        told = ": the best rated that keeps up here"
    if row is None:
        return None
    own = answer.nouns.model.published_as
    rated = rating(own)
    if row.score and rated:
        score = f", rated {row.score:.0f} against {rated.score:.0f}"
    else:
        score = ""
    if rated and rated.model != own:
        score += " of its predecessor"
    if rated and rated.scale == JOINED:
        boards = "two boards"
    else:
        boards = "LMArena"
    score += f" by {boards}" if score else ""
    score += told
    standing = row.standing_beside(own)
    if score and not told and standing is Standing.WEAKER:
        score += f"; {standing.value}"
    return Way(
        name="Another model",
        price="free",
        figure=f"{number(row.speed.decode)} tokens/s",
        text=f"{row.model.name.rpartition('/')[2]} in {row.model.format}{score}. "
        f"Download: {memory(row.model.file_bytes)}.",
        action="Use this model",
        changes={"model": row.model.name, "format": row.model.format},
    )


def _free_setting(answer: Answer) -> Way | None:
    """Best free setting: thinking off where thought takes most of the time, or a format, a cache or
    another setting.
    """
    advice = answer.advice
    decided = advice.decision.option
    if advice.case.setting is not None and decided is advice.case.for_all:
        return _for_all(advice.case.setting, answer.nouns)
    edit = _edit_in_question(answer)
    if decided is not None and decided.name.startswith(STOPS_THINKING):
        return _thinking_off(answer, decided, edit)
    stopped = advice.case.stopped
    if stopped is not None and advice.waits_for_thinking and not _is_decided(edit, answer):
        return _thinking_off(answer, stopped, edit if _is_with(stopped, edit) else None)
    if edit is None:
        return _smaller_format(answer)
    changes = _inputs_of(edit, answer.nouns)
    if not changes:
        return None
    loss = edit.cost.removeprefix(SOME_QUALITY).strip(" ()").split(",")[0]
    told = f": {loss}" if edit.cost.startswith(SOME_QUALITY) and loss else ""
    return Way(
        name="A smaller format" if edit.of_format else "A free setting",
        price="free",
        figure=f"{number(edit.speed.decode)} tokens/s",
        text=f"{plain(capitalised(edit.words))}{told}.",
        action=f"Try {changes['format']}" if edit.of_format else "Try it",
        changes=changes,
    )


def _edit_in_question(answer: Answer) -> Edited | None:
    """Free setting that is decided for, or the best one; None without one."""
    advice = answer.advice
    names = [each.name for each in (advice.decision.option, advice.case.step) if each is not None]
    return next((each for name in names for each in advice.what_ifs if each.words == name), None)


def _thinking_beside(answer: Answer) -> Way | None:
    """Thinking off beside the free setting that is decided for, which has a card of its own; None
    where the verdict does not name it.
    """
    stopped = answer.advice.case.stopped
    edit = _edit_in_question(answer)
    if stopped is None or not answer.advice.waits_for_thinking or not _is_decided(edit, answer):
        return None
    return _thinking_off(answer, stopped, edit if _is_with(stopped, edit) else None)


def _is_decided(edit: Edited | None, answer: Answer) -> bool:
    """Whether a free setting is decided for, and a page has inputs for it."""
    decided = answer.advice.decision.option
    if edit is None or decided is None or edit.words != decided.name:
        return False
    return bool(_inputs_of(edit, answer.nouns))


def _is_with(stopped: Option, edit: Edited | None) -> bool:
    """Whether thinking off is told together with a free setting."""
    return edit is not None and edit.words in stopped.name


def _for_all(edit: Edited, nouns: Nouns) -> Way:
    """Free setting with which every user of a team is served."""
    changes: dict[str, Any] = {"runtime": edit.speed.runtime}
    if "work" in edit.changes:
        changes |= _differing("work", edit.changes["work"], nouns)
    if "machine" in edit.changes:
        changes |= {"system": str(edit.changes["machine"].system)}
    return Way(
        name="A free setting",
        price="free",
        figure=f"{number(edit.speed.decode)} tokens/s",
        text=f"{plain(capitalised(edit.words))}: every user is served.",
        action="Try it",
        changes=changes,
    )


def _thinking_off(answer: Answer, decided: Option, edit: Edited | None) -> Way:
    """Thinking off, with the free setting that it is decided for."""
    changes: dict[str, Any] = {"think": str(Think.OFF)}
    text = "Answers without reasoning first."
    if decided.name != STOPS_THINKING and edit is not None:
        changes |= _inputs_of(edit, answer.nouns)
        text = f"{text[:-1]}, and {plain(edit.words)}."
    return Way(
        name="Thinking off",
        price="free",
        figure=f"{seconds(decided.answer_seconds)} an answer",
        text=text,
        action="Switch it off",
        changes=changes,
    )


def _another_engine(answer: Answer) -> Way | None:
    """Engine with experts in tiers that writes notably faster, with what it asks."""
    advice = answer.advice
    edit = next((each for each in advice.what_ifs if each.words.startswith(SAME_MODEL)), None)
    if edit is None or edit.speed.decode < YOUNG * advice.options[0].decode:
        return None
    name = edit.changes["runtime"].name
    return Way(
        name="Another engine",
        price="free",
        figure=f"{number(edit.speed.decode)} tokens/s",
        text=f"{capitalised(edit.words)}: {edit.cost.removeprefix('free, ')}.",
        action=f"Try {name}",
        changes={"runtime": name},
    )


INPUTS_OF = {
    "work": ("kv_type", "ubatch", "draft", "context", "flash_attention", "swa_full"),
    "settings": ("gpu_layers", "cpu_moe", "cpu_ffn", "kv_in_ram"),
}
"""Fields of a request that are inputs of the same names, by the field of an edit."""


def _inputs_of(edit: Edited, nouns: Nouns) -> dict[str, Any]:
    """Inputs that an edit changes; none where a page has no input for it."""
    changes: dict[str, Any] = {}
    for name, value in edit.changes.items():
        if name == "model":
            changes["format"] = value.format
            continue
        if name == "machine" and len(value.gpus) > len(nouns.machine.gpus):
            changes |= _with_idle(value, nouns.request)
            continue
        if name not in INPUTS_OF:
            return {}
        changes |= _differing(name, value, nouns)
    return changes


def _with_idle(machine: Machine, request: Request) -> dict[str, Any]:
    """Inputs of a machine in which idle cards compute; cards of one vendor choose their backend."""
    vendors = {gpu.vendor for gpu in machine.gpus}
    changes = with_cards(machine, request) | {"backend": None}
    if len(vendors) > 1:
        changes["backend"] = str(machine.backend)
    return changes


def _differing(name: str, value: Workload | Settings, nouns: Nouns) -> dict[str, Any]:
    """Inputs by which a request or its settings differ from the visitor's."""
    now = nouns.work if name == "work" else nouns.settings
    then = {key: getattr(value, key) for key in INPUTS_OF[name]}
    return {
        key: int(size) if isinstance(size, float) else size
        for key, size in then.items()
        if size != getattr(now, key)
    }


def _smaller_format(answer: Answer) -> Way | None:
    """Format that loses least and is notably faster, or keeps up with reading."""
    reading = answer.nouns.money.reading_tps
    level = _level(answer)
    if level.enough:
        least = WORTH_QUALITY
    else:
        least = NOTABLE
    edit = smaller_format(answer.advice.what_ifs, reading, least)
    if edit is None or level is Judgement.FASTER:
        return None
    if judgement(edit.speed.decode, reading) is Judgement.UNUSABLE:
        return None
    form = edit.changes["model"].format
    loss = edit.cost.removeprefix(SOME_QUALITY).strip(" ()").split(",")[0]
    return Way(
        name="A smaller format",
        price="free",
        figure=f"{number(edit.speed.decode)} tokens/s",
        text=f"{capitalised(edit.words)}: {loss or 'some quality'}.",
        action=f"Try {form}",
        changes={"format": form},
    )


def _bigger(answer: Answer) -> Way:
    """Purchase in question, and when it pays."""
    option = purchase(answer)
    if answer.nouns.machine.gpus:
        new = "A bigger GPU"
    else:
        new = "A GPU"
    judged = next(iter(answer.advice.summary.candidates), "")
    if option is None or option.speed is None:
        return Way(
            name="A bigger machine" if answer.nouns.machine.unified else new,
            price=NONE,
            figure="None helps here",
            text="You would notice the difference from "
            f"{number(_notably_faster(answer.advice.options[0]))} tokens a second on. Nothing to "
            "buy with a price on record gets there.",
            action="All options",
        )
    machine = "A machine" if answer.nouns.request.nowhere else "A bigger machine"
    names = {OptionKind.MACHINE: machine, OptionKind.CHANGE: "More RAM"}
    name = names.get(option.kind, new)
    bought = f"{name_in_place(option)}{option.aged}{_sale(option)}"
    told = judged or f"{bought}. {_pays(option, answer.advice)}"
    return Way(
        name=name,
        price=money(option.full_price) if (option.upfront or 0.0) > 0 else EVEN,
        figure=f"{number(option.speed.decode)} tokens/s",
        text=f"{told} {in_case(answer.nouns.ownership.form, option)}".strip(),
        action="Try it",
        changes=_with(option, answer),
    )


def _sale(option: Option) -> str:
    """What the sale of the owned card gives back of the price tag; empty where none is counted."""
    if option.sold > 0:
        return f"; yours sells for {money(option.sold)}"
    return ""


def purchase(answer: Answer) -> Option | None:
    """Purchase that the page shows.

    It is the one that a person names, then the one that is decided for, then the one that the
    verdict depends on (an odd one only where this machine is too slow), then the cheapest that is
    notably faster, an odd one last.
    """
    for candidate in answer.advice.candidates[:1]:
        return candidate.best
    decided = answer.advice.decision.option
    if decided is not None and decided.kind in chosen.BOUGHT:
        return decided
    kept, *rest = answer.advice.options
    option = answer.advice.in_question
    if option and option.kind is not OptionKind.RENT and not (option.odd and _level(answer).enough):
        return option
    able = [
        option
        for option in rest
        if option.kind in chosen.BOUGHT
        and option.may_win
        and option.upfront is not None
        and option.speed is not None
        and option.speed.decode >= _notably_faster(kept)
    ]
    return min(able, key=lambda each: (bool(each.odd), *by_comparison(each)), default=None)


WOULD_IT_PAY = "Would another pay?"


def row_of_candidates(answer: Answer) -> None:
    """Show a field for the name of a purchase that is considered; folded while it is empty."""
    machine = answer.nouns.machine
    if machine.unified:
        words = "Mac Studio, DGX Spark ..."
    else:
        words = "RTX 3090, 2x RTX 5060 Ti 16GB, DGX Spark ..."
    if current.present().also or "also" in current.visit().unread:
        inputs.ask("also", words)
        return
    tabs.popped(WOULD_IT_PAY, "also_field", partial(inputs.ask, "also", words))


def _notably_faster(kept: Option) -> float:
    """Speed from which a purchase that does not pay is shown [tokens/s]."""
    return max(chosen.NOTABLE * (kept.speed.decode if kept.speed else 0.0), LEAST)


def _pays(option: Option, advice: Advice) -> str:
    """Hours saved, and when it pays beside what is free; as it is judged, where that is without
    thinking.
    """
    judged = advice.as_judged(option)
    saved = judged.hours_saved
    worth = advice.beside_free(option).worth_from
    thinking = option.hours_saved
    if judged is option or thinking is None:
        without = ""
        beside = ""
    else:
        without = " with thinking off"
        beside = f" With thinking, {hours(thinking)}."
    if option.kept is None or option.kept.speed is None:
        months = number(option.use.money.purchase_months)
        return f"{money(option.monthly or 0.0)} a month: its price over {months} months, and power."
    if saved is None or saved < 0.05:
        return f"It saves you hardly any waiting{without or ' at this use'}.{beside}"
    told = f"Saves {hours(saved)} a month{without}"
    if worth is None:
        return f"{told}.{beside}"
    if not worth:
        return f"{told} and costs no more.{beside}"
    return f"{told}: pays above {of_an_hour(worth)} an hour.{beside}"


def _with(option: Option, answer: Answer) -> dict[str, Any]:
    """Inputs of the machine after a purchase; none where no inputs describe it."""
    if option.kind is OptionKind.MACHINE and plain(option.name) in MACHINES.rows():
        return current.of_machine(machine=plain(option.name))
    machine = option.machine
    if machine is None or not machine.gpus:
        return {}
    return with_cards(machine, answer.nouns.request)


def cards_of(machine: Machine) -> str:
    """Cards as a name: "2x RTX 3090 + RTX 4090"."""
    counted = Counter(gpu.name for gpu in machine.gpus)
    return MachineSpec.MIXED.join(
        f"{count}x {name}" if count > 1 else name for name, count in counted.items()
    )


def with_cards(machine: Machine, request: Request) -> dict[str, Any]:
    """Values of a request in which its machine has the cards of another machine."""
    if request.here or request.machine is None:
        return {"gpu": cards_of(machine), "gpu_count": 1}
    return parts_of(machine, request)


def parts_of(machine: Machine, request: Request) -> dict[str, Any]:
    """Values that describe a machine by its parts, for cards that its name does not have."""
    host = machine.host
    kept = {name: getattr(request, name) for name in ("ram_gbs", "disk", "disk_gbs", "system")}
    return current.of_machine(**kept) | {
        "gpu": cards_of(machine),
        "cpu": host.name if host.name in HOSTS.rows() else None,
        "ram_gb": round(float(host.memory.value) / GIB, 2),
    }


def _elsewhere(answer: Answer) -> Way | None:
    """An API and a rented GPU: the cheaper by the month first."""
    kept, *rest = answer.advice.options
    now = kept.speed.decode if kept.speed else 0.0
    priced = [option for option in rest if option.cost is not None]
    apis = [option for option in priced if option.kind is OptionKind.API]
    rents = [
        option
        for option in priced
        if option.kind is OptionKind.RENT and option.speed and option.speed.decode > now
    ]
    cheapest = [min(each, key=_monthly) for each in (rents, apis) if each]
    if not cheapest:
        return None
    option, *also = sorted(cheapest, key=_monthly)
    speed = option.speed
    offer = _provision(option)
    also_words = [
        f" Or {_provision(other)}: "
        f"{number(other.speed.decode) if other.speed else 'unknown'} tokens/s for "
        f"{money(_monthly(other))} a month."
        for other in also
    ]
    return Way(
        name="Rent or API",
        price=f"{money(_monthly(option))} a month",
        figure=f"{number(speed.decode)} tokens/s" if speed else "speed not published",
        text=f"{capitalised(offer)}.{''.join(also_words)} Texts leave your house.",
        action=COSTS,
    )


def _monthly(option: Option) -> float:
    return option.monthly or 0.0


def spelled(option: Option) -> str:
    """Name of an option; an API's provider in its own spelling."""
    provider, colon, rest = option.name.partition(":")
    return f"{PROVIDERS.get(provider, provider)}{colon}{rest}"


def _provision(option: Option) -> str:
    """Provider of an API, or the rented machine with its hours, in words."""
    if option.kind is OptionKind.API:
        return f"by API from {spelled(option).partition(':')[0]}"
    return f"{plain(option.name).removesuffix(BY_THE_MONTH)}, rented {hours_rented(option)}"
