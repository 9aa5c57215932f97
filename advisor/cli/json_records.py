"""JSON records printed by the commands, an interface for other programs: SI units, named in the
keys.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from advisor.advice.advise import Advice
from advisor.advice.arrivals.first_token import first_token_within
from advisor.advice.compare import decode_tps
from advisor.advice.diagnosis.causes.required_bandwidth import Needed
from advisor.advice.diagnosis.diagnose import Diagnosis, Explanation
from advisor.advice.diagnosis.text import sentence
from advisor.advice.money.inputs import MoneyInputs
from advisor.advice.options.option import Option
from advisor.advice.options.sureness import what_matters
from advisor.advice.options.turning import in_question, least_speed, what_changes
from advisor.advice.words.context_limits import context_notes
from advisor.cost_model.assumptions import Assumption
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Tier
from advisor.cost_model.timing import CROSSINGS, HIDDEN, LAYERS
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload, drafting_note
from advisor.model.architecture import Architecture
from advisor.model.resolve import ResolvedModel

Json = dict[str, Any]


def model_answer(resolved_model: ResolvedModel, work: Workload) -> Json:
    """Record of `model`: sizes, bytes read per token, cache."""
    model, architecture = resolved_model.model, resolved_model.model.architecture
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
        "source": resolved_model.source,
        "taken_as": resolved_model.taken_as or None,
        "notes": [*resolved_model.notes, *context_notes(model, work)],
    }


def _kinds(architecture: Architecture) -> str:
    caches = architecture.cache
    linear = sum(cache.state_values > 0 for cache in caches)
    windowed = sum(cache.window is not None for cache in caches)
    latent = any(cache.key_values and not cache.value_values for cache in caches)
    parts = [
        f"{architecture.experts.used} of {architecture.experts.total} experts"
        if architecture.experts
        else "dense",
        f"{linear} linear layers" if linear else "",
        f"{windowed} window layers" if windowed else "",
        "latent attention" if latent else "",
    ]
    return ", ".join(part for part in parts if part)


def estimate_answer(estimate: Estimate, taken_as: str = "") -> Json:
    """Record of one runtime and placement; no speed where the model does not fit.

    Args:
        estimate: the estimate.
        taken_as: name of the model that the typed name was taken for; empty for an exact name.
    """
    fits = bool(np.all(estimate.fits))
    limits = context_notes(estimate.model, estimate.work)
    notes = (estimate.format_note, drafting_note(estimate.work))
    if estimate.refusal:
        notes = (estimate.refusal, "")
    held = {tier: [float(size) for size in estimate.held.get(tier, ())] for tier in Tier}
    return {
        "runtime": estimate.runtime,
        "placement": estimate.strategy.value,
        "model": estimate.model.name,
        "taken_as": taken_as or None,
        "format": estimate.model.format,
        "note": " ".join(filter(None, (*notes, *limits))),
        "routes": [route.value for route in estimate.routes],
        "fits": fits,
        "missing_bytes": float(estimate.missing),
        **_range("decode_tps", estimate.decode if fits else None),
        "decode_tps_total": decode_tps(estimate) * float(estimate.work.users) if fits else None,
        **_range("prefill_tps", estimate.prefill if fits else None),
        **_range("ttft", estimate.first_token if fits else None, unit="_s"),
        "users_running": float(estimate.work.users) if fits else None,
        "users_waiting": float(estimate.waiting) if fits else None,
        "ttft_p50_s": first_token_within(estimate, 0.5) if fits else None,
        "ttft_p95_s": first_token_within(estimate, 0.95) if fits else None,
        "load_s": None if estimate.load is None else float(estimate.load),
        "vram_bytes": held[Tier.VRAM],
        "ram_bytes": sum(held[Tier.RAM]),
        "disk_bytes": sum(held[Tier.DISK]),
        "gpu_layers": None if estimate.placement is None else int(estimate.placement.gpu_layers),
        "cpu_moe": None if estimate.placement is None else int(estimate.placement.cpu_moe),
        "seconds": _seconds(estimate),
        "bottleneck": estimate.bottleneck if fits else None,
        "command": estimate.command,
        "assumptions": [_assumption(assumed) for assumed in estimate.assumptions],
    }


def advice_answer(advice: Advice, taken_as: str = "") -> Json:
    """Record of `advise`.

    Args:
        advice: the answer.
        taken_as: name of the model that the typed name was taken for; empty for an exact name.
    """
    return {
        "title": advice.title,
        "taken_as": taken_as or None,
        "verdict": advice.verdict,
        "runtime": advice.chosen.name if advice.chosen else None,
        "estimates": [estimate_answer(estimate, taken_as) for estimate in advice.estimates],
        **_sensitivity(advice),
        "options": [option_answer(option, advice.question.money) for option in advice.options],
        "upgrades": [
            {
                "gpu": upgrade.gpu,
                "count": upgrade.count,
                "runtime": upgrade.estimate.runtime,
                "format": upgrade.estimate.model.format,
                "holds_all": upgrade.holds_all,
                **_range("decode_tps", upgrade.estimate.decode),
                "usd_per_month": upgrade.offer.monthly if upgrade.offer else None,
                "offer": upgrade.offer.kind if upgrade.offer else None,
                "price_note": upgrade.offer.note if upgrade.offer else None,
                "price_source": upgrade.offer.source if upgrade.offer else None,
                "hours_saved_per_month": upgrade.hours_saved,
                "worth_usd_per_hour": _finite(upgrade.worth),
                "break_even_tokens_per_month": _finite(upgrade.break_even),
                "pays": upgrade.pays,
            }
            for upgrade in advice.upgrades
        ],
        "what_ifs": [
            {
                "change": what_if.change,
                "cost": what_if.cost,
                "decode_tps": what_if.decode,
                "gain": what_if.gain,
            }
            for what_if in advice.what_ifs
        ],
    }


def _sensitivity(advice: Advice) -> Json:
    """Inputs at which the verdict turns, and the monthly gain at the ends of their ranges."""
    option, money = in_question(advice.options), advice.question.money
    if option is None:
        return {"turns_on": None, "what_changes": None, "tornado": []}
    kept = advice.options[0]
    return {
        "turns_on": option.name,
        "what_changes": what_changes(option, kept, money) or None,
        "tornado": [
            {"input": bar.name, "low_usd": bar.low, "high_usd": bar.high}
            for bar in what_matters(option, kept, money)
        ],
    }


def option_answer(option: Option, money: MoneyInputs) -> Json:
    """Record of one option of `advise` at a use."""
    speed, cost, price = option.speed, option.cost, option.price
    return {
        "kind": option.kind.value,
        "name": option.name,
        "runtime": speed.runtime or None if speed else None,
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
        "pays_from_tps": least_speed(option, money),
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


def diagnosis_answer(diagnosis: Diagnosis, taken_as: str = "") -> Json:
    """Record of `diagnose`.

    Args:
        diagnosis: the answer.
        taken_as: name of the model that the typed name was taken for; empty for an exact name.
    """
    estimate = diagnosis.estimate
    return {
        "model": estimate.model.name,
        "taken_as": taken_as or None,
        "runtime": estimate.runtime,
        "placement": estimate.strategy.value,
        "format": estimate.model.format,
        "measured_tps": diagnosis.measured.decode,
        "measured_prompt_tps": diagnosis.measured.prompt,
        **_range("decode_tps", estimate.decode),
        **_range("prefill_tps", estimate.prefill),
        "outcome": diagnosis.outcome.value,
        "sentence": sentence(diagnosis),
        "causes": [_explanation(each) for each in diagnosis.explanations],
        "needed": [_needed(each) for each in diagnosis.needed],
    }


def _explanation(explanation: Explanation) -> Json:
    return {
        "cause": explanation.row.key,
        "words": explanation.row.cause,
        "detail": explanation.trial.detail,
        "explains": explanation.explains,
        "share_of_gap": explanation.share,
        **_range("decode_tps", explanation.trial.decode),
        **_range("prefill_tps", explanation.trial.prompt),
        "prior": explanation.row.prior,
        "weight": explanation.weight,
        "test": explanation.row.test,
        "command": explanation.row.command,
        "fix": explanation.row.fix,
        "source": explanation.row.source,
    }


def _needed(needed: Needed) -> Json:
    return {
        "what": needed.what,
        "assumed": float(needed.assumed.value),
        "kind": needed.assumed.kind.value,
        "needed": needed.value,
        "most": needed.most,
        "possible": needed.possible,
        "unit": "B/s",
        "test": needed.test,
    }


def _range(name: str, figure: Range | None, unit: str = "") -> Json:
    ends = ("value", "low", "high")
    keys = (f"{name}{unit}", f"{name}{unit}_low", f"{name}{unit}_high")
    return {
        key: None if figure is None else float(getattr(figure, end))
        for key, end in zip(keys, ends, strict=True)
    }


def _seconds(estimate: Estimate) -> Mapping[str, float | None]:
    if estimate.step is None:
        return dict.fromkeys((LAYERS, CROSSINGS, HIDDEN))
    parts = {str(name): float(seconds) for name, seconds in estimate.step.parts.items()}
    return {**parts, HIDDEN: float(estimate.step.hidden)}


def _assumption(assumption: Assumption) -> Json:
    return {
        "what": assumption.what,
        "value": float(np.ravel(assumption.figure.value)[0]),
        "unit": assumption.unit,
        "kind": assumption.figure.kind.value,
        "source": assumption.figure.source,
        "date": assumption.figure.date,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
