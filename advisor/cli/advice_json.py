"""JSON output of `advise`."""

from dataclasses import asdict

import numpy as np

from advisor.advice.advise import Advice
from advisor.advice.table.option import Option
from advisor.advice.table.sensitivity import in_question, least_speed, what_changes, what_matters
from advisor.cli.estimate import estimate_answer
from advisor.cli.json_records import Json, range_record
from advisor.request.money import MoneyInputs


def advice_answer(advice: Advice, taken_as: str = "") -> Json:
    """Record of `advise`.

    Args:
        advice: the answer.
        taken_as: name of the model that the typed name was taken for; empty for an exact name.
    """
    return {
        "title": advice.title,
        "taken_as": taken_as or None,
        "judgement": advice.judgement,
        "verdict": advice.verdict,
        **_chosen(advice),
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
                **range_record("decode_tps", upgrade.estimate.decode),
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
        "second_machine": _second_machine(advice),
        "what_ifs": [
            {
                "change": what_if.words,
                "cost": what_if.cost,
                "decode_tps": what_if.speed.decode,
                "gain": what_if.gain,
            }
            for what_if in advice.what_ifs
        ],
    }


def _chosen(advice: Advice) -> Json:
    """What to buy, if anything, the cheapest beside it, and a model that runs better here."""
    choice, money, another = advice.choice, advice.question.money, advice.another_model
    return {
        "safe_choice": option_answer(choice.safe, money) if choice.safe else None,
        "safe_choice_reason": choice.reason,
        "cheapest": option_answer(choice.cheapest, money) if choice.cheapest else None,
        "another_model": None
        if another is None
        else {
            "name": another.model.name,
            "format": another.model.format,
            "decode_tps": another.speed.decode,
            "quality": another.score,
        },
    }


def _second_machine(advice: Advice) -> Json | None:
    """Speed with as many machines again by cable; None for machines with cards of their own."""
    answer = advice.second_machine
    if answer is None:
        return None
    after = answer.after
    return {
        "network": answer.network,
        "helps": answer.helps,
        "gain": answer.gain,
        "runtime": after.runtime if after else None,
        "decode_tps": after.decode if after else None,
        "decode_tps_low": after.low if after else None,
        "decode_tps_high": after.high if after else None,
        "ttft_s": after.first_token if after else None,
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


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
