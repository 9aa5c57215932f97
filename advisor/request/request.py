"""Request of a person as one flat record, and the nouns that it describes.

The names are those of the registry (data/inputs.csv), so one function over the registry takes a
request through each door: `texts` for addresses, saved reports and rows of a table, `values` for
files and Python, `command_line` for options.

    opened = texts.from_address(parameters)                  # opened.problems: sentences to show
    request = replace(opened.request, context=16_384)        # one thing changed
    command_line.to_argv(request)                            # the same on the command line
    request.nouns().machine                                  # each noun is built on first use
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from advisor.catalog import inputs
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.formatting import US_DOLLAR, Currency
from advisor.lazy import lazy
from advisor.machine import from_spec
from advisor.machine.machine import Form, Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Model
from advisor.model.resolve import ResolvedModel
from advisor.model.thinking import Thinking, thinking_of
from advisor.permission import LONGEST_SHOWN
from advisor.request import known_speed
from advisor.request.cache_types import cache_type
from advisor.request.images import NO_IMAGES, Images, images_of
from advisor.request.known import Known, QuestionRun, known
from advisor.request.money import MoneyInputs, Ownership, currency_of, in_usd, rate_note
from advisor.request.named import named_machine, named_model, owns_nothing
from advisor.request.session import AgentSession, cached_tokens, session_of
from advisor.request.wants import (
    SERVED_TPS,
    Condition,
    Fixed,
    Texts,
    Think,
    Wants,
    general_note,
    listed,
    maker_named,
    tokens_thought,
    usual_within,
)
from advisor.runtimes import row_of as runtime_row
from advisor.runtimes import runtime as runtime_named
from advisor.units import GIB, Array

Noun = TypeVar("Noun")
NOTHING = "nothing"  # cards of who has no machine
APPLE = "Apple"  # vendor of the chips, and segment of the hosts, of Macs
OF_A_GPU = ("gpu_count", "vram_gb", "bridge")  # inputs that describe a GPU, which must be named


@dataclass(frozen=True, kw_only=True)
class Request:
    """Plain values of a request by the registry's names; None for open ones.

    Amounts of money are in the typed currency. Numbers may be arrays along a sweep where those of
    `Workload`, `MachineSpec` and `Settings` may.

    Raises:
        InputError: a value of another kind, a number outside its limits, or a currency without an
            exchange rate, neither typed nor on record.
    """

    model: str = ""
    format: str | None = None
    machine: str | None = None
    gpu: str | None = MachineSpec.gpu
    gpu_count: int = MachineSpec.gpu_count
    vram_gb: Array | None = MachineSpec.vram_gb
    bridge: bool = MachineSpec.bridge
    screen_gb: float | None = MachineSpec.screen_gb
    cpu: str | None = MachineSpec.cpu
    cores: int | None = MachineSpec.cores
    threads: int | None = MachineSpec.threads
    backend: str | None = MachineSpec.backend
    system: str | None = MachineSpec.system
    driver: str | None = MachineSpec.driver
    build: str | None = MachineSpec.build
    numa: str | None = MachineSpec.numa
    ram_gb: Array | None = MachineSpec.ram_gb
    ram_gbs: Array | None = MachineSpec.ram_gbs
    ram_channels: float | None = MachineSpec.ram_channels
    ram_mts: float | None = MachineSpec.ram_mts
    pcie_gbs: Array | None = MachineSpec.pcie_gbs
    pcie_gen: int | None = MachineSpec.pcie_gen
    pcie_lanes: int | None = MachineSpec.pcie_lanes
    disk: str | None = MachineSpec.disk
    disk_gbs: Array | None = MachineSpec.disk_gbs
    machines: int = MachineSpec.machines
    network: str | None = MachineSpec.network
    network_gbs: float | None = MachineSpec.network_gbs
    context: Array = Workload.context
    prompt: Array = Workload.prompt
    cached: Array = Workload.cached
    cached_share: float | None = None
    images: int = Workload.images
    image_size: str | None = None
    image_tokens: float | None = None
    output: Array = Workload.output
    users: Array = Workload.users
    kv_type: str | None = None
    ubatch: Array = Workload.ubatch
    flash_attention: bool = Workload.flash_attention
    swa_full: bool = Workload.swa_full
    unified_cache: bool = Workload.unified_cache
    bench: bool = Workload.bench
    variety: float = Workload.variety
    known: tuple[str, ...] = ()
    session: str | None = None
    turns: int | None = None
    turn_tokens: float | None = None
    slots: int | None = None
    spare_ram_gb: float | None = None
    spare_drive_gb: float | None = None
    draft: str | None = None
    drafted: Array | None = None
    acceptance: Array | None = None
    requests_per_hour: float | None = None
    user_tps: float | None = None
    first_token_within: float | None = None
    length_spread: float = 0.5
    runtime: str | None = None
    placement: str | None = None
    gpu_layers: Array | None = Settings.gpu_layers
    cpu_moe: Array | None = Settings.cpu_moe
    cpu_ffn: Array | None = Settings.cpu_ffn
    cache_gb: Array | None = None
    expert_cache_gb: Array | None = None
    load_mode: str = Settings.load_mode
    kv_in_ram: bool | None = Settings.kv_in_ram
    expert_parallel: bool = Settings.expert_parallel
    attention_by_user: bool = Settings.attention_by_user
    replies_per_day: float | None = None
    days_per_week: float = MoneyInputs.days_per_week
    answer_hours: float | None = MoneyInputs.answer_hours
    usd_per_hour_of_time: float = MoneyInputs.usd_per_hour_of_time
    rented_hours_per_day: float | None = MoneyInputs.rented_hours_per_day
    starts_per_day: float = MoneyInputs.starts_per_day
    start_minutes: float = MoneyInputs.start_minutes
    think: str | None = None
    thinking_tokens: float | None = None
    reading_tps: float = MoneyInputs.reading_tps
    api_usd_in: float | None = MoneyInputs.api_usd_in
    api_usd_out: float | None = MoneyInputs.api_usd_out
    api_tps: float | None = MoneyInputs.api_tps
    hours_on_per_day: float = MoneyInputs.hours_on_per_day
    purchase_months: float = MoneyInputs.purchase_months
    usd_per_kwh: float = MoneyInputs.usd_per_kwh
    resale_counts: bool = MoneyInputs.resale_counts
    own_price: tuple[tuple[str, float], ...] = MoneyInputs.own_price
    own_rent: tuple[tuple[str, float], ...] = MoneyInputs.own_rent
    currency: str = US_DOLLAR.code
    usd_rate: float | None = None
    cards_owned: str | None = None
    form: str | None = None
    resale: float | None = Ownership.resale
    rented_at: float | None = Ownership.rented_at
    min_tps: float = 0.0
    max_usd_per_month: float | None = None
    texts: str | None = None
    condition: str | None = None
    fixed: str | None = None
    maker: str | None = None
    max_watts: float | None = None
    max_usd: float | None = None
    also: tuple[str, ...] = ()
    contexts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for entry in inputs.INPUTS.values():
            value = getattr(self, entry.name)
            entry.check_length(value)
            if wanted := entry.wanted(value):
                words = f"{entry.label} ({entry.option}) is {repr(value)[:LONGEST_SHOWN]}"
                raise InputError(f"{words}; it should be {wanted}.")
            if entry.whole and isinstance(value, float) and value.is_integer():
                object.__setattr__(self, entry.name, int(value))
        paid = self.paying
        inputs.INPUTS.check(in_usd(vars(self), paid.usd), paid)
        for entry, typed in (
            (inputs.INPUTS["own_price"], self.own_price),
            (inputs.INPUTS["own_rent"], self.own_rent),
        ):
            entry.check_prices(((name, amount * paid.usd) for name, amount in typed), paid)
        known_speed.check(self.known)
        for size in self.contexts:
            inputs.INPUTS["context"].check(size)

    @property
    def paying(self) -> Currency:
        """Currency of the amounts.

        Raises:
            InputError: no code of a currency, one without an exchange rate, or the reverse.
        """
        return currency_of(self.currency, self.usd_rate)

    @property
    def rate_note(self) -> str:
        """Sentence on a rate that is on record and not stated; empty for none."""
        if self.usd_rate is not None:
            return ""
        return rate_note(self.currency)

    @property
    def answers_a_day(self) -> float:
        """Number of answers of all users in a day: as stated, or the usual number for each user."""
        if self.replies_per_day is not None:
            return self.replies_per_day
        return MoneyInputs.replies_per_day * float(np.max(self.users))

    @property
    def rented_hours_a_day(self) -> float | None:
        """Hours a day that a rented machine is kept [h]; None for the hours that use takes.

        They are stated, or the hours in which several people, or requests at random times, come.
        """
        if self.rented_hours_per_day is not None:
            return self.rented_hours_per_day
        if self.requests_per_hour is not None and self.answer_hours is not None:
            return self.answer_hours
        several = self.requests_per_hour is not None or float(np.max(self.users)) > 1
        if several and self.hours_on_per_day not in (0.0, MoneyInputs.hours_on_per_day):
            return self.hours_on_per_day
        return None

    @property
    def served_tps(self) -> float:
        """Speed for each user that a server must reach: as stated, or a usual one [tokens/s]."""
        if self.user_tps is None:
            return SERVED_TPS
        return self.user_tps

    @property
    def served_within(self) -> float:
        """Wait for the first token that a server must keep: as stated, or a usual one [s]."""
        if self.first_token_within is None:
            return usual_within(float(np.max(self.prompt)))
        return self.first_token_within

    @property
    def nothing(self) -> bool:
        """Whether there is no machine yet, whether owned or rented."""
        return owns_nothing(self.cards_owned) or owns_nothing(self.machine)

    @property
    def nowhere(self) -> bool:
        """Whether there is no machine yet and none is described."""
        return self.nothing and self.named is None and self.spec.empty

    @property
    def named(self) -> str | None:
        """Name of the machine; None where none is named, or its words say that there is none."""
        if owns_nothing(self.machine):
            return None
        return self.machine

    @property
    def spec(self) -> MachineSpec:
        """Parts of the machine that are stated.

        Raises:
            InputError: a part, backend, driver or policy that does not go with the others.
        """
        return _as(MachineSpec, self)

    @property
    def here(self) -> bool:
        """Whether the machine is the one that the program runs on."""
        if self.named is None:
            return self.spec.empty and not self.nothing
        return self.named.strip().casefold() == "this"

    def stated(self) -> dict[str, Any]:
        """Values by name that are not defaults; arrays never count as defaults."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray) or value != DEFAULTS[name]
        }

    def nouns(self, resolved: ResolvedModel | None = None) -> "Nouns":
        """Nouns of the request, each built once, on first use; its model is looked up unless it was
        pasted or read already.
        """
        return Nouns(request=self, given=resolved)


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Request)}
"""Default of every input, by name."""


@dataclass(frozen=True, kw_only=True)
class Nouns:
    """Nouns of a request, each built at first use.

    Each raises an `AdvisorError` where it cannot be: an unknown name, values that do not go
    together, half of a price or of a session; the message says which.
    """

    request: Request  # what is asked
    given: ResolvedModel | None = None  # its model where that was read already; None to look it up

    @lazy
    def resolved(self) -> ResolvedModel:
        """Model in the requested format, with the meaning of its name and notes."""
        request = self.request
        return self.given or named_model(request.model, self._format, request.machine)

    @property
    def _format(self) -> str | None:
        """Format as typed; bits alone are those of the runtime's own files."""
        form = self.request.format
        if form is None or self.runtime is None:
            return form
        return self.runtime.format_words(form)

    @property
    def model(self) -> Model:
        """Model in the requested format."""
        return self.resolved.model

    @lazy
    def described(self) -> Machine:
        """Machine that is named or described; this machine where nothing is stated."""
        name = self.request.named
        spec = self.request.spec
        if name is None:
            for part in OF_A_GPU:
                if self.request.gpu is None and getattr(self.request, part) != DEFAULTS[part]:
                    option = inputs.INPUTS[part].option
                    raise InputError(f"{option} describes a GPU; say which with --gpu NAME.")
            if not spec.empty:
                return from_spec.machine(spec)
        elif not self._measured:
            return named_machine(name, spec)
        elif spec.machines > 1:
            raise InputError(
                f"--machines joins machines that are described, and {name!r} is a measured one; "
                "leave one of them out."
            )
        from advisor.calibration.imported_names import THIS
        from advisor.calibration.imported_store import named_machine as measured_machine

        return measured_machine(name or THIS, spec)

    @property
    def _measured(self) -> bool:
        """Whether the machine is this one or an imported one."""
        name = self.request.named
        if name is None:
            return self.request.here
        from advisor.calibration.imported_names import is_imported

        return is_imported(name)

    @lazy
    def known(self) -> tuple[Known, ...]:
        """Speeds that were measured on the present machine, each with the prediction for it."""
        texts = self.request.known
        if self.request.nothing:
            if texts:
                raise InputError("There is no machine yet, so no speed of it is known (--known).")
            return ()
        question = QuestionRun()
        if texts and self.request.model:
            question = QuestionRun(
                model=self.model,
                settings=self.settings,
                strategy=self.strategy,
                runtime=self.runtime,
            )
        typed = tuple(known(known_speed.read(text), self._present, question) for text in texts)
        return (*typed, *self._kept(typed))

    def _kept(self, typed: tuple[Known, ...]) -> Iterator[Known]:
        """Speeds of runs that were kept on this machine, beside typed ones; those of another
        machine or model may be left out.
        """
        if not self.request.here:
            return
        from advisor.calibration.known_here import known_here

        speeds = {each.speed for each in typed}
        for text in known_here(known_speed.MOST - len(typed)):
            with suppress(InputError):
                speed = known_speed.read(text)
                if speed not in speeds:
                    yield known(speed, self._present, QuestionRun())

    def _with_known(self, machine: Machine) -> Machine:
        """Machine that carries what is known of the present one."""
        runs = tuple(each.run for each in self.known)
        if runs:
            return replace(machine, known=runs)
        return machine

    @lazy
    def owned(self) -> Machine:
        """Present machine, with its known speeds."""
        return self._with_known(self._present)

    @lazy
    def _present(self) -> Machine:
        """Machine described, with the cards that are owned where those differ."""
        cards = self.request.cards_owned
        if cards is None or self.request.nothing:
            return self.described
        theirs = from_spec.machine(MachineSpec(gpu=cards))
        if theirs.unified:
            return theirs
        idle = _beside(theirs.gpus, self.described.gpus)
        if idle and self.request.gpu is None:
            return replace(self.described, idle=idle)
        present = replace(self.described, gpus=theirs.gpus, rented="")
        return replace(present, name=present.parts_name)

    @lazy
    def machine(self) -> Machine:
        """Machine that the answer is about."""
        if self.request.gpu is None:
            return self.owned
        return self._with_known(self.described)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the machine and on the request; of a measured machine only on its software, and
        none where there is no machine yet.
        """
        if self.request.model:
            _ = self.resolved  # first, since it says where a GPU is typed as the model
        if self.request.nowhere:
            return self.request_notes
        if self._measured:
            told = self.described.software_notes
        else:
            told = self.described.notes
        cards = [gpu.name for gpu in self.described.gpus if gpu.vendor != APPLE]
        if cards and self.described.host.segment == APPLE:
            told += (
                f"A Mac with Apple's chips takes no {cards[0]} (support.apple.com/102363); the "
                "answer is as if it did.",
            )
        return (*told, *self.request_notes)

    @property
    def request_notes(self) -> tuple[str, ...]:
        """Notes on the request.

        They tell of the runtime that answers for an app, of a context that grew, of a split that is
        not as typed, and of tokens of thinking that nobody published.
        """
        told = []
        if self.request.runtime and (row := runtime_row(self.request.runtime)):
            told.append(row.taken_as)
        told += self.images.notes
        if self.session is None:
            told.append(self.work.grown_note(self._reply))
        if self.request.model:
            told += self._split_notes()
            if self.request.thinking_tokens is None:
                told.append(general_note(self.thinking, self._think, self.model.name))
        return tuple(filter(None, told))

    def _split_notes(self) -> Iterator[str]:
        """Sentences about layers that the model does not have."""
        request = self.request
        form = self.model.architecture
        name = self.model.name
        layers = np.max(request.gpu_layers or 0)
        if layers > form.layers + 1:
            yield (
                f"{name} has {form.layers} layers, fewer than the {layers:,.0f} of --gpu-layers: "
                "all of them are on the GPU, in every placement."
            )
        if layers == 1:
            yield "--gpu-layers 1 is the output head alone, and no layer: it is left in RAM, too."
        if request.cpu_moe and form.experts is None:
            yield f"{name} has no experts, so --cpu-moe changes nothing; --gpu-layers splits it."
        if request.cpu_ffn and form.experts is not None:
            yield f"{name} has experts: --cpu-moe, not --cpu-ffn, puts those into RAM."

    @lazy
    def images(self) -> Images:
        """Images of the prompt, as the model's processor cuts them."""
        request = self.request
        model = None
        if not request.images:
            return NO_IMAGES
        if self.given or request.model:
            model = self.model
        return images_of(model, request.images, request.image_size, request.image_tokens)

    @lazy
    def session(self) -> AgentSession | None:
        """Session of an agent, with its images in the first prompt; None for a single reply."""
        session = session_of(vars(self.request), DEFAULTS)
        if session is None or not self.images.count:
            return session
        return replace(session, first=session.first + self.images.tokens)

    @lazy
    def work(self) -> Workload:
        """Request of one reply; for a session, of its middle turn."""
        reply = self._reply
        if reply.draft and (self.given or self.request.model):
            reply.check_heads(self.model)
        if self.session is None:
            return reply.with_room()
        return self.session.middle(reply)

    @property
    def _reply(self) -> Workload:
        """Request as it is stated; the cached share of a session is of what went before."""
        request = self.request
        cached: Any = request.cached
        prompt: Any = request.prompt + self.images.tokens
        if request.cached_share is not None and self.session is None:
            cached = cached_tokens(prompt, cached, request.cached_share)
        return _as(
            Workload,
            request,
            prompt=prompt,
            image_patches=self.images.patches,
            cached=cached,
            kv_type=cache_type(request.kv_type or Workload.kv_type),
            **self._drafted,
        )

    @property
    def _drafted(self) -> dict[str, Any]:
        """Drafting fields of the workload; none without drafting."""
        request = self.request
        if not request.draft:
            return {}
        from advisor.request.drafting import drafting  # loaded only for it

        return drafting(request.draft, request.acceptance, request.drafted)

    @lazy
    def settings(self) -> Settings:
        """Fixed choices of the placement; a stated number of layers on the GPU is llama.cpp's
        `-ngl`, which counts the output head first.
        """
        request = self.request
        cache = self.request.cache_gb
        experts = request.expert_cache_gb
        return _as(
            Settings,
            request,
            page_cache=None if cache is None else cache * GIB,
            expert_cache=None if experts is None else experts * GIB,
            counts_head=request.gpu_layers is not None,
            load_mode=request.load_mode.lower(),
        )

    @property
    def runtime(self) -> Runtime | None:
        """Runtime of the answer; None for any."""
        if self.request.runtime:
            return runtime_named(self.request.runtime)
        return None

    @property
    def strategy(self) -> PlacementStrategy | None:
        """Placement; None for any."""
        return listed(PlacementStrategy, "placement", self.request.placement)

    @lazy
    def money(self) -> MoneyInputs:
        """Use and prices, in US dollars."""
        request = self.request
        usd = self.request.paying.usd
        if (request.api_usd_in is None) != (request.api_usd_out is None):
            raise InputError(
                "Half of an API's price is typed; give both --api-usd-in and --api-usd-out."
            )
        amounts = {
            entry.name: getattr(request, entry.name) for entry in inputs.INPUTS.of("money").values()
        }
        amounts["thinking_tokens"] = self.thinking_tokens
        amounts["replies_per_day"] = request.answers_a_day
        amounts["rented_hours_per_day"] = request.rented_hours_a_day
        return MoneyInputs(
            **in_usd(amounts, usd),
            own_rent=tuple((name, amount * usd) for name, amount in request.own_rent),
            own_price=tuple((name, amount * usd) for name, amount in request.own_price),
        )

    @property
    def thinking(self) -> Thinking | None:
        """Reasoning of the model; None for one that has none, or without a model."""
        if not self.request.model and self.given is None:
            return None
        with suppress(AdvisorError):  # an unknown model is told where its answer is
            return thinking_of(self.request.model, self.model.name)
        return None

    @property
    def _think(self) -> Think:
        """Reasoning as it is wanted."""
        return listed(Think, "thinking", self.request.think) or Think.USUAL

    @property
    def thinking_tokens(self) -> float:
        """Tokens of reasoning before each reply, as typed or by the model's default [tokens].

        Raises:
            InputError: thinking is to be off in a model that cannot stop, or on in one without it.
        """
        request = self.request
        wanted = self._think
        if request.thinking_tokens is not None:
            if wanted is not Think.USUAL:
                raise InputError(
                    "Both --thinking and --thinking-tokens say how long the model thinks; give one."
                )
            return float(request.thinking_tokens)
        row = self.thinking
        if row is None and wanted in (Think.USUAL, Think.OFF):  # without a model, too
            return 0.0
        return tokens_thought(row, wanted, self.model.name)

    @lazy
    def wants(self) -> Wants:
        """Demands on the answer; speeds and waits of many users only where they are stated."""
        request = self.request
        row = self.thinking
        states = self._think is not Think.USUAL or request.thinking_tokens is not None
        stops = row is not None and row.has_switch and self.thinking_tokens > 0
        limit = in_usd({"max_usd": request.max_usd}, request.paying.usd)
        return Wants(
            requests_per_hour=request.requests_per_hour,
            user_tps=request.user_tps,
            first_token_within=request.first_token_within,
            texts=listed(Texts, "texts", request.texts) or Texts.OPEN,
            condition=listed(Condition, "condition", request.condition) or Condition.ANY,
            fixed=listed(Fixed, "fixed part", request.fixed) or Fixed.NOTHING,
            maker=maker_named(request.maker),
            max_usd=limit["max_usd"],
            max_watts=request.max_watts,
            also=request.also,
            may_stop_thinking=stops,
            states_thinking=states and self.thinking_tokens > 0,
        )

    @lazy
    def ownership(self) -> Ownership:
        """Ownership of the present machine."""
        request = self.request
        form = listed(Form, "kind of machine", request.form) or self.owned.form
        amounts = {"resale": request.resale, "rented_at": request.rented_at}
        return Ownership(form=form, **in_usd(amounts, request.paying.usd), nothing=request.nothing)


def _beside(owned: tuple[Gpu, ...], described: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Cards that are owned beside those of the described machine; none where it has no card, or
    another than owned.
    """
    left = [gpu.name for gpu in described]
    beside = list[Gpu]()
    for gpu in owned:
        if gpu.name in left:
            left.remove(gpu.name)
        else:
            beside.append(gpu)
    if described and not left:
        return tuple(beside)
    return ()


def _as(noun: type[Noun], request: Request, **computed: Any) -> Noun:
    """Dataclass from the values of the same names, but for those computed from several."""
    names = {field.name for field in fields(noun)} & DEFAULTS.keys()  # type: ignore[arg-type]
    drawn = {name: getattr(request, name) for name in names - {"draft", "drafted", "acceptance"}}
    return noun(**(drawn | computed))
