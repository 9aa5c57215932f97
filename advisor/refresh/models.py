"""Models of the Hugging Face Hub: the most downloaded and the newest, with their config.json.

The Hub is asked for lists of names, then for each name that is not known yet, one after another
with a pause. What was read is kept in a journal, so that a run that was stopped goes on where it
was. Nothing is executed, no weights are read.

References:
    [1] https://huggingface.co/docs/hub/api (GET /api/models with pipeline_tag, sort, limit).
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from advisor.catalog import renewed
from advisor.errors import AdvisorError, InputError
from advisor.failures import NetworkError
from advisor.model.by_name.hub_list import (
    COLUMNS,
    TABLE,
    HubRow,
    RenewedModelRow,
    fetched_models,
    hub_list,
)
from advisor.model.by_name.known import makers
from advisor.model.by_name.names import take_apart
from advisor.model.config.by_tensors import as_text, from_text
from advisor.model.config.read import describe, describe_by_tensors
from advisor.model.config.values import Config, built_models, language_model
from advisor.model.hub import (
    IDENTITY,
    Limits,
    Repository,
    endpoint,
    fetch,
    json_object,
    refuse_status,
    repository,
    small_file,
    stored_tensors,
    weight_bytes,
    weight_files,
)
from advisor.paths import data_folder
from advisor.refresh import checks
from advisor.refresh.fetched import Fetched

KINDS = ("text-generation", "image-text-to-text")  # tasks of the Hub whose models write text
LISTED = {"downloads": 500, "trendingScore": 200, "createdAt": 500}
"""Order of a list, and how many names of it are asked for; the Hub gives a thousand at most."""
LISTING_CAP = 20_000_000  # a listing of a thousand repositories has some megabytes [B]
PATIENT = Limits(seconds=60.0)  # limits of a listing
MOST_NEW = 1000  # most repositories that are asked in a run
MOST_ROWS = 2000  # most models of the table
LONGEST_CONFIG = 200_000  # most of a config.json that is kept [B]
PAUSE = 0.1  # wait between two repositories [s]
FAILURES = 3  # failures one after another from which the Hub counts as gone
JOURNAL = "unfinished.jsonl"
JOURNAL_DAYS = 7  # age of the answers that a later run goes on with [days]
MODEL_TYPE = re.compile(r"[\w.-]{1,60}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Repository of a list of the Hub."""

    name: str  # `owner/name`
    downloads: int  # of the last month
    created: str  # day on which it was made; empty where unknown


def listing(kind: str, order: str, count: int) -> tuple[Entry, ...]:
    """Repositories of a kind in an order, as the Hub lists them.

    Raises:
        NetworkError: no answer, or one that is no list.
    """
    query = f"pipeline_tag={kind}&sort={order}&direction=-1&limit={count}"
    answer = fetch(f"{endpoint()}/api/models?{query}", cap=LISTING_CAP, limits=PATIENT)
    refuse_status(answer, "the list of models", (200,))
    told = json_object(b'{"models": ' + answer.body + b"}", "the list of models")["models"]
    if not isinstance(told, list):
        raise NetworkError("The Hub's list of models is none. Try again later.")
    return tuple(filter(None, map(_entry, told[:count])))


def _entry(told: object) -> Entry | None:
    if not isinstance(told, Mapping):
        return None
    name = told.get("id")
    if not isinstance(name, str) or not IDENTITY.fullmatch(name) or len(name) > 200:
        return None
    downloads = told.get("downloads")
    created = told.get("createdAt")
    return Entry(
        name=name,
        downloads=downloads if isinstance(downloads, int) and downloads >= 0 else 0,
        created=_day(created) if isinstance(created, str) else "",
    )


def _day(text: str) -> str:
    """Day of a time that the Hub states; empty for none."""
    with suppress(ValueError):
        return date.fromisoformat(text[:10]).isoformat()
    return ""


def wanted() -> tuple[Entry, ...]:
    """Models worth knowing: the most downloaded, the most watched, and the newest of known makers.

    Raises:
        NetworkError: a list cannot be read.
    """
    entries: dict[str, Entry] = {}
    for kind in KINDS:
        for order, count in LISTED.items():
            for entry in listing(kind, order, count):
                if order == "createdAt" and entry.name.split("/")[0] not in makers():
                    continue
                entries.setdefault(entry.name.casefold(), entry)
    if not entries:
        raise NetworkError("The Hub lists no models. Try again later.")
    return tuple(sorted(entries.values(), key=lambda entry: -entry.downloads))


SIZES = {
    **{name: name for name in ("layers", "hidden", "heads", "kv_heads", "head_dim", "experts")},
    "vocab": "vocab_size",
    "feed_forward": "moe_intermediate",
    "shared_feed_forward": "shared_intermediate",
    "experts_used": "experts_per_token",
    "context": "max_context",
}
"""Fields or keys of a config.json by the column that has their number."""


def row_of(identity: str, config: Mapping[str, object], parameters: int, released: str) -> HubRow:
    """Row of the list from the repository's config.json; a nested language model is found.

    `parameters` are the weights that its files hold.
    """
    values = Config(name=identity, values=language_model(config))
    sizes = {column: _size(values, key) for column, key in SIZES.items()}
    heads = sizes["heads"]
    sizes["kv_heads"] = sizes["kv_heads"] or heads
    sizes["head_dim"] = sizes["head_dim"] or (sizes["hidden"] // heads if heads else 0)
    sizes["feed_forward"] = sizes["feed_forward"] or _size(values, "intermediate")
    kind = str(config.get("model_type"))
    return HubRow(
        name=identity,
        key=" ".join(take_apart(identity).shape),
        architecture=kind if MODEL_TYPE.fullmatch(kind) else "unknown",
        parameters=parameters,
        released=released,
        **sizes,
    )


def _size(values: Config, key: str) -> int:
    """Size, 0 where the file states none or one for each layer."""
    with suppress(InputError):
        return values.whole(key)
    return 0


def fetched(seconds: float, today: date) -> Fetched[RenewedModelRow]:
    """Table of models: the former rows, and new models of the Hub that no list has.

    Raises:
        NetworkError: the Hub does not answer, or not in time; what was read is kept for a next run.
    """
    deadline = time.monotonic() + seconds
    names = wanted()
    journal = Journal(today)
    known = fetched_models()
    unknown = [entry for entry in names if _is_new(entry, known, today)][:MOST_NEW]
    failures = 0
    left_out = []
    for at, entry in enumerate(unknown):
        if entry.name in journal.rows or entry.name in journal.left_out:
            continue
        if time.monotonic() > deadline:
            raise NetworkError(
                f"{at} of {len(unknown)} new models were read in {seconds:g} s. They are kept: run "
                "it again to go on, or give it longer (--seconds)."
            )
        time.sleep(PAUSE)
        try:
            journal.add(_row(entry, today))
            failures = 0
        except NetworkError as error:
            failures += 1
            if failures == FAILURES:
                raise
            left_out.append(f"{entry.name}: {error}")
        except AdvisorError as error:
            failures = 0
            journal.leave_out(entry.name, str(error))
    left_out += [f"{name}: {why}" for name, why in journal.left_out.items()]
    rows = {**known, **{name.casefold(): row for name, row in journal.rows.items()}}
    counted = _with_downloads(rows, names)
    return Fetched(rows=counted[:MOST_ROWS], left_out=tuple(left_out))


def _is_new(entry: Entry, known: Mapping[str, RenewedModelRow], today: date) -> bool:
    """Whether a repository is in no table yet, or was refused and may be described now."""
    row = known.get(entry.name.casefold())
    if row is not None:
        return bool(row.refused) and row.date < today.isoformat()
    return entry.name.casefold() in built_models() or hub_list().named(entry.name) is None


def _with_downloads(
    rows: Mapping[str, RenewedModelRow], names: Sequence[Entry]
) -> tuple[RenewedModelRow, ...]:
    """Rows with today's downloads, the most downloaded first."""
    downloads = {entry.name.casefold(): entry.downloads for entry in names}
    counted = (
        replace(row, downloads=downloads.get(name, row.downloads)) for name, row in rows.items()
    )
    return tuple(sorted(counted, key=lambda row: (-row.downloads, row.name)))


def _row(entry: Entry, today: date) -> RenewedModelRow:
    """Row of a repository, with the reason where it cannot be described."""
    repo = repository(entry.name)
    if repo.note:
        raise NetworkError(repo.note)
    config = _config(repo)
    parameters = sum(repo.parameters.values())
    sizes = row_of(entry.name, config, parameters, entry.created)
    kept = json.dumps(config, separators=(",", ":"))
    if len(kept) > LONGEST_CONFIG:
        raise InputError(f"its config.json has {len(kept):,} characters, too many to keep.")
    tensors, refused = _beyond_config(repo, kept, parameters)
    return RenewedModelRow(
        **{name: getattr(sizes, name) for name in COLUMNS if name != "key"},
        downloads=entry.downloads,
        weight_bytes=weight_bytes(repo),
        refused=refused,
        config=kept,
        tensors=tensors,
        date=today.isoformat(),
        source=f"{endpoint()}/{entry.name}/blob/{repo.commit}/config.json",
    )


def _beyond_config(repo: Repository, config: str, parameters: int) -> tuple[str, str]:
    """Shapes of a model's tensors, and the reason of a refusal; at most one of both is not empty.

    Shapes are read where the config.json does not describe the weights; the model is refused where
    they do not either.
    """
    try:
        described = describe(config, repo.identity)
        doubt = checks.contradicted_total(described, parameters)
        if not doubt and not described.architecture.shape_uncertainty:
            return "", ""
    except AdvisorError as error:
        doubt = str(error)
    try:
        stored = as_text(stored_tensors(repo))
        if len(stored) > LONGEST_CONFIG:
            raise InputError("Its tensors are too many to keep.")
        describe_by_tensors(config, repo.identity, from_text(stored))
    except NetworkError:
        raise
    except AdvisorError as error:
        if weight_files(repo) and doubt:
            return "", f"{doubt} {error}"
        return "", doubt
    return stored, ""


def _config(repo: Repository) -> Mapping[str, object]:
    if "config.json" not in repo.files:
        raise InputError("it has no config.json.")
    return json_object(small_file(repo, "config.json"), f"{repo.identity}/config.json")


class Journal:
    """Record of the Hub's answers in a run so far, a line each."""

    def __init__(self, today: date) -> None:
        self.path: Path = data_folder() / renewed.FOLDER / TABLE / JOURNAL
        self.day = today.isoformat()
        self.rows: dict[str, RenewedModelRow] = {}
        self.left_out: dict[str, str] = {}
        oldest = (today - timedelta(days=JOURNAL_DAYS)).isoformat()
        for line in self._lines():
            if str(line.get("day", "")) >= oldest:
                self._take(line)

    def _lines(self) -> Iterator[Mapping[str, object]]:
        """Lines of the file; the last may be cut off where its program was killed."""
        with suppress(OSError, UnicodeDecodeError):
            for text in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    line = json.loads(text)
                    if isinstance(line, dict):
                        yield line

    def _take(self, line: Mapping[str, object]) -> None:
        name = str(line.get("name", ""))
        row = line.get("row")
        if isinstance(row, dict):
            with suppress(TypeError):
                self.rows[name] = RenewedModelRow(**row)
        else:
            self.left_out[name] = str(line.get("why", ""))

    def add(self, row: RenewedModelRow) -> None:
        """Note a row."""
        self.rows[row.name] = row
        self._write({"name": row.name, "row": asdict(row)})

    def leave_out(self, name: str, why: str) -> None:
        """Note a repository that gives no row, with the reason."""
        self.left_out[name] = why
        self._write({"name": name, "why": why})

    def _write(self, line: Mapping[str, object]) -> None:
        """Add a line; a disk that takes none only means that it is read again."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                # A line that a killed program left unfinished ends here.
                file.write(f"\n{json.dumps({'day': self.day, **line})}")


def forget_journal() -> None:
    """Drop the answers of a run that has ended."""
    with suppress(OSError):
        (data_folder() / renewed.FOLDER / TABLE / JOURNAL).unlink(missing_ok=True)
