"""Choices in the sidebar, by the keys of its widgets, and the request that they make."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from urllib.parse import urlencode

from advisor.catalog.inputs import shortest
from advisor.formatting import US_DOLLAR, Currency
from advisor.request.request import Request
from advisor.request.texts import from_texts
from advisor.ui.sidebar import uploads
from advisor.ui.sidebar.fields import LOADED
from advisor.ui.sidebar.fields import fields as form_fields
from advisor.ui.sidebar.option_words import (
    ANOTHER,
    ANY,
    AS_STORED,
    BY_PARTS,
    IN_PARTS,
    NAMED,
    NONE,
    OWNED,
)


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

    def parameters(self) -> dict[str, str]:
        """Parameters of a link, without empty values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: value if isinstance(value, str) else shortest(value)
            for key, value in values.items()
            if value is not None
        }

    @cached_property
    def request(self) -> Request:
        """What the choices ask; raises as `made_on`."""
        return self.made_on()

    def made_on(self, page: str = "", **further: str) -> Request:
        """What the choices of a page ask; amounts are in US dollars without an exchange rate.

        Args:
            page: as in `former_links.renamed`.
            further: parameters of the page's own inputs.

        Raises:
            InputError: a number out of its limits, or a name that nothing has.
        """
        texts = self.parameters() | further
        if self.paying == US_DOLLAR:
            texts = {key: text for key, text in texts.items() if key not in ("currency", "rate")}
        return from_texts(texts, page)

    @property
    def copied(self) -> Request:
        """What a copied command asks: an upload by the name of its file; raises as `made_on`."""
        return replace(self.request, model=uploads.as_file(self.model))

    @property
    def paying(self) -> Currency:
        """Currency of the amounts; US dollars without an exchange rate."""
        if self.currency == US_DOLLAR.code or self.rate is None:
            return US_DOLLAR
        return Currency(code=self.currency, usd=self.rate)

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


def address(base: str, parameters: Mapping[str, str]) -> str:
    """Link that reopens a comparison."""
    return f"{base}?{urlencode(parameters)}"
