"""A running server's own figures: counters of its Prometheus page, memory of Ollama's models.

Names of the counters:

- llama.cpp: tools/server/README.md, `GET /metrics` (with `--metrics`) and `GET /props`;
- vLLM: docs.vllm.ai, Production Metrics (0.32);
- SGLang: docs.sglang.io, Production Metrics (with `--enable-metrics`);
- Ollama: docs/api.md, `GET /api/ps`; it counts no tokens;
- Strata: `GET /metrics` is JSON for its page Monitor, with `totals` and `live`, as two exporters to
  Prometheus read it (read 2026-11-28).

All others read 2026-11-23.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError
from advisor.failures import ProbeError
from advisor.probes.http_answer import FOUND, got

LARGEST = 1e18  # far above any number of tokens or bytes
LONGEST_LINE = 4_000  # letters of a line of counters that is read; labels have some hundred
LONGEST_MODEL = 200  # letters of a model's name that a server tells


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricRow:
    """One row of data/diagnosis/server_metrics.csv: a metric of a server's page."""

    server: str
    figure: str  # field of `ServerReading`
    metric: str  # its name on the page
    grows: bool  # a counter that only grows; else a present state


METRICS = read(DATA / "diagnosis/server_metrics.csv", MetricRow)
COUNTED = sorted({row.figure for row in METRICS if row.grows})


@dataclass(frozen=True, kw_only=True)
class ServerReading:
    """Figures of a server at a moment; None for figures that it does not state."""

    server: str  # "llama.cpp", "vLLM", "SGLang", "Strata" or "Ollama"
    model: str = ""  # file or name of the model that it serves; empty where it does not say
    context: float | None = None  # context of a user [tokens]
    tokens: float | None = None  # generated tokens whose time is known [tokens]
    token_seconds: float | None = None  # time of those tokens, summed over users [s]
    prompt_tokens: float | None = None  # tokens of prompts that were computed [tokens]
    prompt_seconds: float | None = None  # time of those [s]
    prompts: float | None = None  # number of prompts
    cache_queries: float | None = None  # prompt tokens looked up in the prefix cache [tokens]
    cache_hits: float | None = None  # prompt tokens that it held [tokens]
    preemptions: float | None = None  # users thrown out of the cache and computed anew
    running: float | None = None  # users at work now
    waiting: float | None = None  # users in the queue now
    in_gpu: float | None = None  # share of the model in GPU memory

    def since(self, earlier: "ServerReading") -> "ServerReading":
        """Counts since an earlier reading; all counts of a new server, whose counters are lower."""
        counts = ((name, getattr(self, name), getattr(earlier, name)) for name in COUNTED)
        counted: dict[str, Any] = {
            name: now - before
            for name, now, before in counts
            if now is not None and before is not None and now >= before
        }
        return replace(self, **counted)


def read_server(url: str, model: str = "") -> ServerReading:
    """Figures of the server at an address.

    A router of llama-server's is asked for the model in the address (`?model=NAME`), for the only
    one that it has loaded, or for the expected one.

    Raises:
        InputError: no address of a server.
        ProbeError: nothing answers there, or nothing that is known.
    """
    base = _base(url)
    reading = _counted(base, address(url).query)
    if reading is not None:
        return reading
    models = _fetched(f"{base}/api/ps")
    if models is not None:
        return from_ollama(models)
    props = _fetched(f"{base}/props")
    if props is not None and _json(props).get("role") == "router":
        return _of_router(base, model)
    if props is not None:
        raise ProbeError(f"llama-server at {base} counts nothing; start it with --metrics.")
    raise ProbeError(_why_silent(base))


CLOSED = (401, 403)  # statuses of HTTP of a page that asks for a key
FAILED = (500, 502, 504)  # statuses of HTTP of a server, or of a proxy before it, that failed
BUSY = 503  # status of a server that loads its model
SILENT = {
    "/get_model_info": "SGLang at {} counts nothing; start it with --enable-metrics.",
    "/api/extra/perf": (
        "KoboldCpp at {} has no page of counters; give the lines of its log (diagnose --results)."
    ),
    "/api/v0/models": (
        "LM Studio at {} has no page of counters; give the line under a reply (diagnose --results)."
    ),
    "/v1/model": (
        "TabbyAPI at {} has no page of counters; give the lines of its log (diagnose --results)."
    ),
}
"""What is told of servers that count nothing, by a page that one has alone: docs.sglang.io, the
pages on the API of KoboldCpp and of LM Studio, theroyallab/tabbyAPI; read 2026-11-28."""


WEB_PAGE = re.compile(r"\s*(?:<!doctype html|<html|<head)", re.IGNORECASE)
"""Begin of a page for people, as a chat page or a proxy answers under any path."""


def _why_silent(base: str) -> str:
    """Reason why no figures of a server can be read, with what to do."""
    answer = got(urlsplit(f"{base}/metrics"), "/metrics")
    status = answer.status
    if status in CLOSED:
        return (
            f"The server at {base} asks for an API key before it tells figures, and none is given "
            "here: start it without a key on this machine, or give the lines of its log "
            "(diagnose --results)."
        )
    if status == BUSY:
        return f"The server at {base} loads its model; ask again when it answers."
    for page, words in SILENT.items():
        if _fetched(f"{base}{page}") is not None:
            return words.format(base)
    if status == FOUND and WEB_PAGE.match(answer.text):
        return (
            f"{base}/metrics is a web page and no list of counters: another program, a chat page "
            "or a proxy answers there. Give the address and the port of the model's server itself, "
            "such as http://localhost:8000."
        )
    if status in FAILED:
        return (
            f"What answers at {base} fails (HTTP {status}), so the server behind it may be down; "
            "look at its log, and give the server's own address."
        )
    return (
        f"Nothing at {base} tells figures as llama-server (--metrics), vLLM, SGLang "
        "(--enable-metrics) or Ollama do; give the address of the server, such as "
        "http://localhost:8000."
    )


def _counted(base: str, query: str) -> ServerReading | None:
    """Figures of a server's page of counters; None where it has none that is known."""
    parameters = f"?{query}" if query else ""
    page = _fetched(f"{base}/metrics{parameters}")
    reading = None if page is None else from_metrics(page)
    if reading is None or reading.server != "llama.cpp":
        return reading
    return _with_props(reading, base, parameters)


def _of_router(base: str, model: str) -> ServerReading:
    """Figures of a model behind llama-server's router, whose page is asked for by the model's name
    (tools/server/README.md, "router mode"); ProbeError where none answers.
    """
    listed = _json(_fetched(f"{base}/models") or "").get("data")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    loaded = [_name(row.get("id")) for row in rows if _is_loaded(row)]
    names = loaded if len(loaded) == 1 else [model, model.casefold()]
    for name in filter(None, names):
        reading = _counted(base, urlencode({"model": name}))
        if reading is not None:
            return replace(reading, model=reading.model or name)
    has = f" It has loaded {', '.join(loaded)[:200]}." if loaded else ""
    raise ProbeError(
        f"llama-server at {base} is a router of several models, and tells the figures of one by "
        f"its name: add it to the address, {base}/?model=NAME.{has}"
    )


def _is_loaded(row: Mapping[str, Any]) -> bool:
    status = row.get("status")
    return isinstance(status, dict) and status.get("value") == "loaded"


def address(url: str) -> SplitResult:
    """Parts of an address, with http where it states no scheme."""
    return urlsplit(url if "://" in url else f"http://{url}")


def _base(url: str) -> str:
    parts = address(url)
    try:
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise InputError(f"{url[:80]!r} is no address of a server, such as http://localhost:8000.")
    return f"{parts.scheme}://{parts.netloc}"


def _fetched(url: str) -> str | None:
    """Text at an address; None for another answer, or a web page. ProbeError where nothing
    answers.
    """
    place = urlsplit(url)
    query = f"?{place.query}" if place.query else ""
    answer = got(place, f"{place.path}{query}")
    if answer.status != FOUND or WEB_PAGE.match(answer.text):
        return None
    return answer.text


def from_metrics(page: str) -> ServerReading | None:
    """Figures of a page of counters; None where it is of no known server.

    Builds of llama-server from b7010 on wrapped the page into a string of JSON
    (github.com/ggml-org/llama.cpp/issues/17384); collectors write an underscore for each colon.
    """
    page = _of_strata(_unwrapped(page))
    samples = _samples(page)
    for server in dict.fromkeys(row.server for row in METRICS):
        figures: dict[str, float] = {}
        for row in METRICS:  # the names of today before older ones
            name = row.metric.replace(":", "_")
            if row.server == server and name in samples:
                figures.setdefault(row.figure, samples[name])
        if "tokens" not in figures:
            continue
        if "cache_hits" in figures and "prompt_tokens" in figures:  # llama.cpp counts hits beside
            figures.setdefault("cache_queries", figures["cache_hits"] + figures["prompt_tokens"])
        model = re.search(r'model_name="([^"]*)"', page)
        return ServerReading(server=server, model=_name(model[1]) if model else "", **figures)
    return None


OF_METRICS = re.compile(
    r"^[ \t]*(?:{})(?=[{{ ]).*".format(
        "|".join(row.metric.replace(":", "[:_]") for row in METRICS)
    ),
    re.MULTILINE,
)
"""Lines of known metrics: a page may have hundreds of thousands of others."""


def _samples(page: str) -> Mapping[str, float]:
    """Sum of each metric's samples that are finite, by its name with underscores for colons.

    Raises:
        ProbeError: a known metric is below zero.
    """
    samples: defaultdict[str, float] = defaultdict(float)
    for line in OF_METRICS.findall(page):
        name, value = _sample(line)
        if value < 0:
            raise ProbeError(
                f"It counts {value:g} as {name}, and no server counts below zero; start it anew, "
                "or give the address of another."
            )
        if math.isfinite(value):
            samples[name] += value
    return samples


def _sample(line: str) -> tuple[str, float]:
    """Name and value of a line of counters (`NAME{LABELS} VALUE`); NaN for another line.

    Reference: https://prometheus.io/docs/instrumenting/exposition_formats, read 2026-11-28.
    """
    if line.startswith("#") or len(line) > LONGEST_LINE:
        return "", math.nan
    name, labelled, rest = line.partition("{")
    if labelled:
        rest = rest.rpartition("}")[2]
    else:
        name, _, rest = line.strip().partition(" ")
    with suppress(ValueError, IndexError):
        return name.strip().replace(":", "_"), float(rest.split()[0])
    return "", math.nan


def _name(told: object) -> str:
    """Name that a server tells, in one short line."""
    letters = str(told)[:LONGEST_MODEL]
    return "".join(letter if letter.isprintable() else "?" for letter in letters)


def _unwrapped(page: str) -> str:
    """Text of a page, which may be wrapped into a string of JSON."""
    if not page.lstrip().startswith('"'):
        return page
    with suppress(ValueError):
        text = json.loads(page)
        if isinstance(text, str):
            return text
    return page


def _of_strata(page: str) -> str:
    """Page of Strata's JSON as lines of counters, times in seconds; any other page unchanged."""
    content = _json(page) if page.lstrip().startswith("{") else {}
    totals, live = (content.get(key) for key in ("totals", "live"))
    if not isinstance(totals, dict):
        return page
    numbers = {key: _above_zero(value) or 0.0 for key, value in totals.items()}
    counted = {
        "output_tokens": numbers.get("output_tokens", 0.0),
        "decode_seconds": numbers.get("decode_ms", 0.0) / 1000.0,
        "computed_tokens": max(numbers.get("prompt_tokens", 0.0) - numbers.get("reused", 0.0), 0.0),
        "prompt_seconds": numbers.get("prompt_ms", 0.0) / 1000.0,
        "prompts": numbers.get("requests", 0.0),
        "reused": numbers.get("reused", 0.0),
    }
    if isinstance(live, dict):
        at_work = live.get("state") in ("reading", "generating")
        counted["running"] = _above_zero(live.get("running")) or float(at_work)
        counted["queued"] = _above_zero(live.get("queued")) or 0.0
    return "\n".join(f"strata:{name} {value}" for name, value in counted.items())


def _with_props(reading: ServerReading, base: str, query: str) -> ServerReading:
    props = _json(_fetched(f"{base}/props{query}") or "")
    settings = props.get("default_generation_settings")
    if isinstance(settings, dict):
        context = settings.get("n_ctx")
    else:
        context = None
    model = str(props.get("model_path", "")).replace("\\", "/").rpartition("/")[2]
    return replace(reading, model=_name(model), context=_above_zero(context))


def from_ollama(text: str) -> ServerReading:
    """Model that Ollama used last, with its share in GPU memory; raises ProbeError without one."""
    models = _json(text).get("models")
    if not isinstance(models, list):
        raise ProbeError("/api/ps is answered, but not as Ollama does.")
    loaded = [model for model in models if isinstance(model, dict)]
    if not loaded:
        raise ProbeError("Ollama holds no model now; ask it something first.")
    last = max(loaded, key=lambda model: str(model.get("expires_at", "")))
    size = _above_zero(last.get("size"))
    context = _above_zero(last.get("context_length"))
    held = last.get("size_vram")
    in_gpu = None
    if size and held == 0:
        in_gpu = 0.0
    elif size and _above_zero(held):
        in_gpu = min((_above_zero(held) or 0.0) / size, 1.0)
    model = _name(last.get("name", ""))
    return ServerReading(server="Ollama", model=model, context=context, in_gpu=in_gpu)


def _above_zero(value: object) -> float | None:
    """Finite number above zero; None for any other value."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < LARGEST:
        return float(value)
    return None


def _json(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(content, dict):
        return content
    return {}
