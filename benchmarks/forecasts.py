"""Predictions of the current release for two hundred settings, written with their date.

    python -m benchmarks.forecasts

A later measurement of one of these settings judges what the program said before: no row of that
day can have taught it. A second run on a day replaces its rows in data/generated/forecasts.csv;
those of earlier days stay.
"""

import csv
import sys
from datetime import UTC, datetime

from advisor.catalog.csv_tables import DATA
from advisor.evidence.published.predict import predictions

FORECASTS = DATA / "generated/forecasts.csv"
CARDS = (
    "RTX 3060 12GB", "RTX 3090", "RTX 4060 Ti 16GB", "RTX 4070", "RTX 4090", "RTX 5060 Ti 16GB",
    "RTX 5070 Ti", "RTX 5090", "RTX PRO 6000 Blackwell", "RX 7900 XTX", "RX 9070 XT",
    "Radeon AI PRO R9700", "Arc B580", "Arc Pro B70", "Radeon 8060S", "NVIDIA GB10 (DGX Spark)",
    "Apple M2 Max", "Apple M3 Ultra", "Apple M4 Pro", "Apple M5 Max",
)  # fmt: skip
MODELS = (
    ("Llama-3.1-8B", "Q4_K_M"), ("Qwen3-8B", "Q8_0"), ("Gemma-4-12B", "Q4_K_M"),
    ("gpt-oss-20b", "MXFP4"), ("Qwen3.6-27B", "Q4_K_M"), ("Gemma-4-26B-A4B", "Q4_K_M"),
    ("Qwen3.6-35B-A3B", "Q4_K_M"), ("Nemotron-3-Nano-30B-A3B", "Q4_K_M"),
    ("GLM-4.7-Flash", "Q4_K_M"), ("gpt-oss-120b", "MXFP4"),
)  # fmt: skip
"""Models and formats: llama-bench's pp512 and tg128, whole on the card where it fits, else with
experts or layers in the RAM of a desktop."""
COLUMNS = (
    "day", "gpu", "model", "format", "tg_tps", "tg_low", "tg_high", "pp_tps", "pp_low", "pp_high",
    "note",
)  # fmt: skip


def rows(day: str) -> list[dict[str, object]]:
    """Predictions of all settings on a day."""
    settings = [(gpu, model, form) for gpu in CARDS for model, form in MODELS]
    rows = [
        {
            "category": "resident",
            "runtime": "llama.cpp",
            "gpu": gpu,
            "model": model,
            "quant": form,
            "context_depth": "0",
            "source_note": "test=tg128,pp512",
        }
        for gpu, model, form in settings
    ]
    return [
        {"day": day, "gpu": gpu, "model": model, "format": form}
        | {name: answer[name] for name in COLUMNS[4:]}
        for (gpu, model, form), answer in zip(settings, predictions(rows), strict=True)
    ]


def main() -> int:
    """Write today's predictions; returns the exit code."""
    today = datetime.now(UTC).date().isoformat()
    earlier: list[dict[str, object]] = []
    if FORECASTS.exists():
        with FORECASTS.open(encoding="utf-8", newline="") as file:
            earlier = [dict(row) for row in csv.DictReader(file) if row["day"] != today]
    with FORECASTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*earlier, *rows(today)])
    sys.stdout.write(f"{FORECASTS.name}: written.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
