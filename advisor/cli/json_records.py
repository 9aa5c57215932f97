"""What the command line prints, as the JSON other programs rely on: SI units, named in the keys."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from advisor.advice.advise import Advice
from advisor.advice.compare import decode_tps
from advisor.advice.context_limits import context_notes
from advisor.advice.diagnosis.causes.required_bandwidth import Needed
from advisor.advice.diagnosis.diagnose import Diagnosis, Explanation
from advisor.advice.diagnosis.text import sentence
from advisor.advice.first_token import first_token_within
from advisor.advice.options.option import Option
from advisor.cost_model.assumptions import Assumption
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Tier
from advisor.cost_model.timing import CROSSINGS, HIDDEN, LAYERS
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.model.architecture import Architecture
from advisor.model.resolve import ResolvedModel

Json = dict[str, Any]


def model_answer(found: ResolvedModel, work: Workload) -> Json:
    """What `model` prints: sizes, bytes read and the cache."""
    model, architecture = found.model, found.model.architecture
    cache = model.kv_bytes(work.context, work.kv_type)
    per_token = model.kv_bytes(2.0, work.kv_type) - model.kv_bytes(1.0, work.kv_type)
    return {
        "name": model.name,
        "format": model.format,
        "architecture": _kinds(architecture),
        "params": architecture.params,
        "active_params": round(architecture.active_params),
        "layers": architecture.layers,
        "weight_bytes": model.file_bytes,
        "read_bytes_per_token": model.read_bytes_per_token,
        "kv_bytes_per_token": float(np.sum(per_token)),
        "kv_bytes": float(np.sum(cache) * work.users),
        "context": float(work.context),
        "kv_type": work.kv_type,
        "source": found.source,
        "taken_as": found.taken_as or None,
        "notes": [*found.notes, *context_notes(model, work)],
    }


def _kinds(architecture: Architecture) -> str:
    caches = architecture.cache
    linear = sum(one.state_values > 0 for one in caches)
    windowed = sum(one.window is not None for one in caches)
    latent = any(one.key_values and not one.value_values for one in caches)
    parts = [
        f"{architecture.experts.used} of {architecture.experts.total} experts"
        if architecture.experts
        else "dense",
        f"{linear} linear layers" if linear else "",
        f"{windowed} window layers" if windowed else "",
        "latent attention" if latent else "",
    ]
    return ", ".join(part for part in parts if part)


def estimate_answer(one: Estimate, taken_as: str = "") -> Json:
    """What `estimate` prints for one runtime and placement; no speed where it does not fit.

    Args:
        one: the estimate.
        taken_as: the model that a name was taken for; empty where it was meant literally.
    """
    fits = bool(np.all(one.fits))
    limits = context_notes(one.model, one.work)
    held = {tier: [float(size) for size in one.held.get(tier, ())] for tier in Tier}
    return {
        "runtime": one.runtime,
        "placement": one.strategy.value,
        "model": one.model.name,
        "taken_as": taken_as or None,
        "format": one.model.format,
        "note": " ".join(filter(None, (one.refusal or one.becomes, *limits))),
        "routes": [route.value for route in one.routes],
        "fits": fits,
        "missing_bytes": float(one.missing),
        **_range("decode_tps", one.decode if fits else None),
        "decode_tps_total": decode_tps(one) * float(one.work.users) if fits else None,
        **_range("prefill_tps", one.prefill if fits else None),
        **_range("ttft", one.first_token if fits else None, unit="_s"),
        "users_running": float(one.work.users) if fits else None,
        "users_waiting": float(one.waiting) if fits else None,
        "ttft_p50_s": first_token_within(one, 0.5) if fits else None,
        "ttft_p95_s": first_token_within(one, 0.95) if fits else None,
        "load_s": None if one.load is None else float(one.load),
        "vram_bytes": held[Tier.VRAM],
        "ram_bytes": sum(held[Tier.RAM]),
        "disk_bytes": sum(held[Tier.DISK]),
        "gpu_layers": None if one.placement is None else int(one.placement.gpu_layers),
        "cpu_moe": None if one.placement is None else int(one.placement.cpu_moe),
        "seconds": _seconds(one),
        "bottleneck": one.bottleneck if fits else None,
        "command": one.command,
        "assumptions": [_assumption(assumed) for assumed in one.assumptions],
    }


def advice_answer(advice: Advice) -> Json:
    """What `advise` prints."""
    return {
        "title": advice.title,
        "verdict": advice.verdict,
        "runtime": advice.chosen.name if advice.chosen else None,
        "estimates": [estimate_answer(one) for one in advice.estimates],
        "options": [option_answer(option) for option in advice.options],
        "upgrades": [
            {
                "gpu": one.gpu,
                "count": one.count,
                "runtime": one.estimate.runtime,
                "format": one.estimate.model.format,
                "holds_all": one.holds_all,
                **_range("decode_tps", one.estimate.decode),
                "usd_per_month": one.offer.monthly if one.offer else None,
                "offer": one.offer.kind if one.offer else None,
                "price_note": one.offer.note if one.offer else None,
                "price_source": one.offer.source if one.offer else None,
                "hours_saved_per_month": one.hours_saved,
                "worth_usd_per_hour": _finite(one.worth),
                "break_even_tokens_per_month": _finite(one.break_even),
                "pays": one.pays,
            }
            for one in advice.upgrades
        ],
        "what_ifs": [
            {"change": one.change, "cost": one.cost, "decode_tps": one.decode, "gain": one.gain}
            for one in advice.what_ifs
        ],
    }


def option_answer(option: Option) -> Json:
    """What `advise` prints for one thing that a person could do."""
    speed, cost, price = option.speed, option.cost, option.price
    return {
        "kind": option.kind.value,
        "name": option.name,
        "format": speed.format or None if speed else None,
        "placement": speed.strategy.value if speed and speed.format else None,
        "decode_tps": speed.decode if speed else None,
        "decode_tps_low": speed.low if speed else None,
        "decode_tps_high": speed.high if speed else None,
        "ttft_s": speed.first_token if speed and speed.format else None,
        "upfront_usd": option.upfront,
        "monthly_usd": option.monthly,
        "monthly_parts_usd": asdict(cost) if cost else None,
        "usd_per_million_tokens": option.per_million_tokens,
        "hours_lost": option.hours_lost,
        "hours_saved": option.hours_saved,
        "keeps_up": option.keeps_up,
        "pays": option.pays,
        "gain_usd": option.gain,
        "worth_usd_per_hour": option.worth_from,
        "break_even_months": option.break_even_months,
        "break_even_tokens_per_month": option.break_even_tokens,
        "price_date": price.date or None,
        "price_stale": option.stale,
        "price_at_launch": price.listed,
        "price_note": price.note or None,
        "price_sources": list(price.sources),
    }


def diagnosis_answer(found: Diagnosis) -> Json:
    """What `diagnose` prints."""
    one = found.estimate
    return {
        "runtime": one.runtime,
        "placement": one.strategy.value,
        "format": one.model.format,
        "measured_tps": found.measured.decode,
        "measured_prompt_tps": found.measured.prompt,
        **_range("decode_tps", one.decode),
        **_range("prefill_tps", one.prefill),
        "outcome": found.outcome.value,
        "sentence": sentence(found),
        "causes": [_explanation(each) for each in found.explanations],
        "needed": [_needed(each) for each in found.needed],
    }


def _explanation(one: Explanation) -> Json:
    return {
        "cause": one.row.key,
        "words": one.row.cause,
        "detail": one.trial.detail,
        "explains": one.explains,
        "share_of_gap": one.share,
        **_range("decode_tps", one.trial.decode),
        **_range("prefill_tps", one.trial.prompt),
        "prior": one.row.prior,
        "weight": one.weight,
        "test": one.row.test,
        "command": one.row.command,
        "fix": one.row.fix,
        "source": one.row.source,
    }


def _needed(one: Needed) -> Json:
    return {
        "what": one.what,
        "assumed": float(one.assumed.value),
        "kind": one.assumed.kind.value,
        "needed": one.value,
        "most": one.most,
        "possible": one.possible,
        "unit": "B/s",
        "test": one.test,
    }


def _range(name: str, figure: Range | None, unit: str = "") -> Json:
    ends = ("value", "low", "high")
    keys = (f"{name}{unit}", f"{name}{unit}_low", f"{name}{unit}_high")
    return {
        key: None if figure is None else float(getattr(figure, end))
        for key, end in zip(keys, ends, strict=True)
    }


def _seconds(one: Estimate) -> Mapping[str, float | None]:
    if one.step is None:
        return dict.fromkeys((LAYERS, CROSSINGS, HIDDEN))
    parts = {str(name): float(seconds) for name, seconds in one.step.parts.items()}
    return {**parts, HIDDEN: float(one.step.hidden)}


def _assumption(one: Assumption) -> Json:
    return {
        "what": one.what,
        "value": float(np.ravel(one.figure.value)[0]),
        "unit": one.unit,
        "kind": one.figure.kind.value,
        "source": one.figure.source,
        "date": one.figure.date,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
