"""Choices on the Advise page, and the objects they describe."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias
from urllib.parse import urlencode

from advisor.advice.edits.drafting import drafting
from advisor.calibration.imported_machine import rented_by_name
from advisor.catalog.inputs import in_usd
from advisor.cost_model.placement import Settings, stated
from advisor.cost_model.workload import Workload, cached_tokens
from advisor.formatting import US_DOLLAR, Currency
from advisor.machine.machine import Machine
from advisor.machine.spec import MIXED, MachineSpec
from advisor.machine.spec import NO_GPU as NAMED_NONE
from advisor.request.load import LoadQuestion
from advisor.request.money import MoneyInputs, money_in_usd
from advisor.request.ownership import Form, Ownership, form_of
from advisor.runtimes import Runtime, runtime
from advisor.ui.sidebar.fields import LOADED, NO_POLICY
from advisor.ui.sidebar.fields import fields as form_fields
from advisor.ui.sidebar.option_words import (
    ANOTHER,
    ANY,
    AS_SEEN,
    AS_STORED,
    AUTO,
    BY_PARTS,
    BY_USER,
    IN_PARTS,
    NAMED,
    NO_GPU,
    NONE,
    NOTHING,
    NVLINK,
    OWNED,
    RENTED,
    WHOLE,
)
from advisor.units import tokens

TypedPrices: TypeAlias = tuple[tuple[str, float], ...]
"""Names and amounts."""


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Values of the inputs by key; None for hidden or empty ones."""

    model: str
    format: str | None = None
    repack: str | None = None
    context: str
    users: int
    replies: float
    machine: str
    owned: str | None = None
    gpu: str | None = None
    mygpu: str | None = None
    gpus: int = 1
    gpu2: str | None = None
    bridge: str | None = None
    cpu: str | None = None
    ram: float | None = None
    pool: float | None = None
    ramspeed: float | None = None
    drive: str | None = None
    drivespeed: float | None = None
    link: str | None = None
    screen: float | None = None
    runtime: str = ANY
    kv: str
    prompt: int
    output: int
    ubatch: int
    cached: int = 0
    cachedshare: float | None = None
    draft: str = NONE
    acceptance: float | None = None
    drafted: int | None = None
    layers: int | None = None
    experts: int | None = None
    cache: float | None = None
    backend: str | None = None
    threads: int | None = None
    system: str | None = None
    driver: str | None = None
    build: str | None = None
    numa: str | None = None
    division: str = IN_PARTS
    eachtps: float = LOADED.user_tps
    firstin: float = LOADED.first_token_within
    perhour: float | None = None
    spread: float = LOADED.length_spread
    having: str = OWNED
    formfactor: str = BY_PARTS
    resale: float | None = None
    rentedat: float | None = None
    namedrent: float | None = None
    hour: float
    days: float = 7.0
    within: float = 24.0
    rentday: float | None = None
    starts: float = 1.0
    startmin: float = 5.0
    months: float
    kwh: float
    on: float = 8.0
    thinking: float = 0.0
    reading: float = 10.0
    apiin: float | None = None
    apiout: float | None = None
    apispeed: float | None = None
    currency: str = US_DOLLAR.code
    rate: float | None = None
    rentgpu: str | None = None
    rentusd: float | None = None
    buygpu: str | None = None
    buyusd: float | None = None

    @property
    def form(self) -> str | None:
        """Chosen format; None for the format of the file or repository."""
        return self.format if self.repack in (None, AS_STORED) else self.repack

    @property
    def this_machine(self) -> bool:
        """Whether the machine is the one that the program runs on."""
        return self.machine not in (ANOTHER, NAMED)

    @property
    def named(self) -> str | None:
        """Machine by name; None where its parts are described."""
        return self.owned if self.machine == NAMED else None

    def parameters(self) -> dict[str, str]:
        """Parameters of a link, without empty values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: f"{value:g}" if isinstance(value, float) else str(value)
            for key, value in values.items()
            if value is not None
        }

    def permalink(self, base: str) -> str:
        """Address that reopens the choices, without defaults.

        Which machine is meant is always said, since its default depends on who opens the link.
        """
        known = form_fields()
        return address(
            base,
            {
                key: text
                for key, text in self.parameters().items()
                if key == "machine" or text != known[key].default_text
            },
        )

    def chosen(self) -> Runtime | None:
        """Runtime of the answer; None for any."""
        return None if self.runtime == ANY else runtime(self.runtime)

    def workload(self) -> Workload:
        """Request to the model.

        Raises:
            InputError: a number out of its limits, or who drafts is not known.
        """
        return Workload(
            prompt=self.prompt,
            cached=cached_tokens(self.prompt, self.cached, self.cachedshare),
            output=self.output,
            context=tokens(self.context),
            users=self.users,
            kv_type=self.kv,
            ubatch=self.ubatch,
            **drafting(self.drafter() or "", self.acceptance, self.drafted),
        )

    def load(self) -> LoadQuestion:
        """Question about many users.

        Raises:
            InputError: a number out of its limits.
        """
        return LoadQuestion(**self.typed_load())

    def typed_load(self) -> dict[str, Any]:
        """Numbers of many users by name of the input."""
        return {
            "user_tps": self.eachtps,
            "first_token_within": self.firstin,
            "requests_per_hour": self.perhour,
            "length_spread": self.spread,
        }

    def drafter(self) -> str | None:
        """Drafting method or model as the command line names it; None without drafting."""
        return None if self.draft == NONE else self.draft

    def paying(self) -> Currency:
        """Currency of the amounts; US dollars without an exchange rate."""
        if self.currency == US_DOLLAR.code or self.rate is None:
            return US_DOLLAR
        return Currency(code=self.currency, usd=self.rate)

    def money(self) -> MoneyInputs:
        """Inputs about time and money, in US dollars."""
        return money_in_usd(self.typed_amounts(), *self.typed_prices(), self.paying().usd)

    def typed_amounts(self) -> dict[str, float | None]:
        """Amounts as typed, by name of the input."""
        return {
            "replies_per_day": self.replies,
            "usd_per_hour_of_time": self.hour,
            "days_per_week": self.days,
            "answer_hours": self.within,
            "rented_hours_per_day": self.rentday,
            "starts_per_day": self.starts,
            "start_minutes": self.startmin,
            "purchase_months": self.months,
            "usd_per_kwh": self.kwh,
            "hours_on_per_day": self.on,
            "thinking_tokens": self.thinking,
            "reading_tps": self.reading,
            "api_usd_in": self.apiin,
            "api_usd_out": self.apiout,
            "api_tps": self.apispeed,
        }

    def typed_prices(self) -> tuple[TypedPrices, TypedPrices]:
        """Typed rents and purchase prices."""
        return _typed(self.rentgpu, self.rentusd), _typed(self.buygpu, self.buyusd)

    def ownership(self, machine: Machine) -> Ownership:
        """Ownership of the machine."""
        by_parts = self.formfactor == BY_PARTS
        return self._owned(form_of(machine) if by_parts else Form(self.formfactor))

    def _owned(self, form: Form) -> Ownership:
        return Ownership(
            form=form, **in_usd(self.typed_ownership(), self.paying().usd), nothing=self.nothing
        )

    @property
    def nothing(self) -> bool:
        """Whether there is no machine yet."""
        return self.having == NOTHING

    def typed_ownership(self) -> dict[str, float]:
        """Resale value or rent as typed; nothing without a machine."""
        if self.nothing:
            return {}
        if self.named is not None and rented_by_name(self.named):
            return {} if self.namedrent is None else {"rented_at": self.namedrent}
        if self.having == RENTED:
            return {"rented_at": self.rentedat or 0.0}
        return {} if self.resale is None else {"resale": self.resale}

    def settings(self) -> Settings:
        """Settings of the placement."""
        return stated(
            gpu_layers=self.layers,
            cpu_moe=self.experts,
            cache_gb=self.cache,
            expert_parallel=self.whole_experts,
            attention_by_user=self.attention_by_user,
        )

    @property
    def whole_experts(self) -> bool:
        """Each GPU holds whole experts."""
        return self.division == WHOLE

    @property
    def attention_by_user(self) -> bool:
        """Each GPU holds whole experts and has users of its own."""
        return self.division == BY_USER

    def machine_inputs(self) -> MachineSpec:
        """Description of the machine; for this machine, the typed corrections."""
        gpu = self.mygpu if self.this_machine else self.gpu
        generation, lanes = self._link()
        mixed = ""
        if self.gpu2 not in (None, NONE):
            counted = f"{self.gpus}x {gpu}" if self.gpus > 1 else gpu
            mixed = f"{counted}{MIXED}{self.gpu2}"
        return MachineSpec(
            gpu=None if gpu in (None, AS_SEEN) else NAMED_NONE if gpu == NO_GPU else mixed or gpu,
            gpu_count=1 if mixed else self.gpus,
            bridge=self.bridge == NVLINK,
            cpu=self.cpu,
            screen_gb=self.screen,
            ram_gb=self.pool if self.pool is not None else self.ram,
            ram_gbs=self.ramspeed,
            pcie_gen=generation,
            pcie_lanes=lanes,
            disk=self.drive,
            disk_gbs=self.drivespeed,
            threads=self.threads,
            numa=None if self.numa == NO_POLICY else self.numa,
            backend=_open(self.backend),
            system=_open(self.system),
            driver=_open(self.driver),
            build=_open(self.build),
        )

    def _link(self) -> tuple[int | None, int | None]:
        match = re.fullmatch(r"PCIe (\d+) x(\d+)", self.link or "")
        return (int(match[1]), int(match[2])) if match else (None, None)


def _open(choice: str | None) -> str | None:
    """A choice; None for one that states nothing."""
    return None if choice == AUTO else choice


def _typed(name: str | None, amount: float | None) -> TypedPrices:
    """Typed price of an item, as a table; empty if none was typed."""
    return () if name in (None, NONE) or amount is None else ((str(name), amount),)


def address(base: str, parameters: Mapping[str, str]) -> str:
    """Link that reopens a comparison."""
    return f"{base}?{urlencode(parameters)}"
