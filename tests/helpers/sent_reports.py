"""Reports of runs as people send them: seventy honest ones and thirty hostile ones, drawn.

Speeds are drawn without the program's model: a share of the datasheet's bandwidth over the bytes of
the file. Bandwidths are NVIDIA's, AMD's, Intel's and Apple's datasheets; sizes of files are those
that Ollama's library lists.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.intake.sent import SentReport
from lab.intake.taken import Intake, take

CARDS = {
    "NVIDIA GeForce RTX 3060": ("RTX 3060 12GB", 360.0),
    "NVIDIA GeForce RTX 3090": ("RTX 3090", 936.0),
    "NVIDIA GeForce RTX 4090": ("RTX 4090", 1008.0),
    "NVIDIA GeForce RTX 5090": ("RTX 5090", 1792.0),
    "NVIDIA GeForce RTX 5070 Ti": ("RTX 5070 Ti", 896.0),
    "NVIDIA L4": ("L4", 300.0),
    "AMD Radeon RX 7900 XTX": ("RX 7900 XTX", 960.0),
}
"""Cards as their drivers name them: the name in the catalogue, and its bandwidth [GB/s]."""
MODELS = {
    "Qwen3-8B": ("qwen3:8b", "qwen3 8B Q4_K - Medium", 5.2),
    "Llama-3.1-8B": ("llama3.1:8b", "llama 8B Q4_K - Medium", 4.9),
    "Qwen3-4B": ("qwen3:4b", "qwen3 4B Q4_K - Medium", 2.6),
}
"""Models: tag in Ollama's library, llama-bench's name, size in Q4_K_M [GB]."""
AGREED = "I measured this myself and agree that it is published with this repository."


@dataclass(frozen=True, kw_only=True)
class Expected:
    """An issue, and what becomes of it."""

    issue: Mapping[str, Any]
    speeds: tuple[float, ...] = ()  # of each user, of its rows; none where it is refused
    card: str = ""  # name in the catalogue
    model: str = ""
    reason: str = ""  # words of the refusal; empty for a taken one
    kind: str = field(default="")  # tool, or kind of attack


LABELS = {
    "output": "Output",
    "gpu": "GPU",
    "gpu_count": "GPUs",
    "cpu": "Processor",
    "ram_gb": "RAM in GiB",
    "runtime": "Runtime",
    "model": "Model",
    "quant": "Format",
    "ngl": "Layers on the GPU",
    "batch": "Users at once",
    "prompt_len": "Prompt in tokens",
    "tg_tps": "Tokens a second of each user",
    "pp_tps": "Prompt tokens a second",
    "date": "Day",
}
"""Headings of the form, written out: a form of yesterday is read tomorrow."""


def form(*, agree: str = "x", **values: object) -> str:
    """A filled form as GitHub writes it."""
    parts = []
    for name, label in LABELS.items():
        text = str(values.get(name) or "_No response_")
        if name == "output":
            text = f"```text\n{text}\n```"
        parts.append(f"### {label}\n\n{text}")
    parts.append(f"### Agreement\n\n- [{agree}] {AGREED}")
    return "\n\n".join(parts)


def issue(number: int, body: str, sender: str = "") -> dict[str, Any]:
    """An issue as `gh issue list --json` writes it."""
    return {
        "number": number,
        "author": {"login": sender or f"sender{number}"},
        "url": f"https://example.org/issues/{number}",
        "createdAt": "2026-11-20T09:30:00Z",
        "body": body,
    }


# Honest reports.


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A drawn run."""

    driver_name: str
    card: str
    model: str
    tag: str
    bench_name: str
    decode: float  # [tokens/s]
    prompt: float  # [tokens/s]


def drawn(chance: random.Random) -> Drawn:
    """A card, a model, and a speed of 45 to 70 % of what its bandwidth allows."""
    driver_name, (card, bandwidth) = chance.choice(list(CARDS.items()))
    model, (tag, bench_name, size) = chance.choice(list(MODELS.items()))
    decode = round(chance.uniform(0.45, 0.7) * bandwidth / size, 2)
    return Drawn(
        driver_name=driver_name,
        card=card,
        model=model,
        tag=tag,
        bench_name=bench_name,
        decode=decode,
        prompt=round(decode * chance.uniform(12, 20), 2),
    )


def ollama_verbose(run: Drawn) -> dict[str, object]:
    output = (
        "total duration:       9.1s\nload duration:        41ms\n"
        "prompt eval count:    611 token(s)\nprompt eval duration: 0.4s\n"
        f"prompt eval rate:     {run.prompt:.2f} tokens/s\n"
        "eval count:           402 token(s)\neval duration:        8.1s\n"
        f"eval rate:            {run.decode:.2f} tokens/s"
    )
    return {"output": output, "gpu": run.driver_name, "model": run.tag, "runtime": "Ollama 0.30.1"}


def ollama_answer(run: Drawn) -> dict[str, object]:
    answer = {
        "model": run.tag,
        "created_at": "2026-11-19T08:00:00Z",
        "response": "secret",
        "done": True,
        "prompt_eval_count": 700,
        "prompt_eval_duration": round(700 / run.prompt * 1e9),
        "eval_count": 256,
        "eval_duration": round(256 / run.decode * 1e9),
    }
    return {"output": json.dumps(answer), "gpu": run.driver_name}


def bench_row(run: Drawn, **values: object) -> dict[str, object]:
    return {
        "build_commit": "8cf427ff",
        "build_number": 11433,
        "cpu_info": "AMD Ryzen 7 7800X3D",
        "gpu_info": run.driver_name,
        "backends": "CUDA",
        "model_filename": "/home/ada/m.gguf",
        "model_type": run.bench_name,
        "model_size": int(MODELS[run.model][2] * 1e9),
        "model_n_params": 8_190_000_000,
        "n_threads": 8,
        "type_k": "f16",
        "type_v": "f16",
        "n_gpu_layers": 99,
        "n_prompt": 0,
        "n_gen": 128,
        "n_depth": 0,
        "test_time": "2026-11-18T11:58:51Z",
        "avg_ts": run.decode,
        "stddev_ts": 0.4,
        "samples_ts": [run.decode * 0.99, run.decode * 1.01],
        **values,
    }


def llama_bench_json(run: Drawn) -> dict[str, object]:
    rows = [
        bench_row(run, n_prompt=512, n_gen=0, avg_ts=run.prompt, samples_ts=[run.prompt]),
        bench_row(run),
    ]
    return {"output": json.dumps(rows, indent=1), "model": run.model, "quant": "Q4_K_M"}


def llama_bench_table(run: Drawn) -> dict[str, object]:
    output = (
        "ggml_cuda_init: found 1 CUDA devices:\n"
        f"  Device 0: {run.driver_name}, compute capability 8.6, VMM: yes\n"
        "| model | size | params | backend | ngl | test | t/s |\n"
        "| --- | ---: | ---: | --- | --: | --: | --: |\n"
        f"| {run.bench_name} | 4.68 GiB | 8.19 B | CUDA | 99 | pp512 | {run.prompt} ± 9.1 |\n"
        f"| {run.bench_name} | 4.68 GiB | 8.19 B | CUDA | 99 | tg128 | {run.decode} ± 0.1 |\n\n"
        "build: 8cf427ff (11433)"
    )
    return {"output": output, "model": run.model, "quant": "Q4_K_M"}


def llama_benchy(run: Drawn) -> dict[str, object]:
    report = {
        "version": "0.4.0",
        "timestamp": "2026-11-17 19:09:00Z",
        "latency_mode": "api",
        "model": run.model,
        "max_concurrency": 1,
        "benchmarks": [
            {
                "concurrency": 1,
                "context_size": 0,
                "prompt_size": 2048,
                "response_size": 128,
                "is_context_prefill_phase": False,
                "pp_req_throughput": {"mean": run.prompt, "std": 1.0},
                "tg_throughput": {"mean": run.decode, "std": 0.1},
                "tg_req_throughput": {"mean": run.decode, "std": 0.1},
                "e2e_ttft": {"mean": 2048 / run.prompt * 1000, "std": 2.0},
            }
        ],
    }
    return {
        "output": json.dumps(report),
        "gpu": run.driver_name,
        "quant": "Q4_K_M",
        "runtime": "llama.cpp CUDA b11433",
    }


def vllm_serve_file(run: Drawn) -> dict[str, object]:
    result = {
        "date": "20261119-093000",
        "backend": "vllm",
        "model_id": f"somebody/{run.model}-AWQ",
        "max_concurrency": 4,
        "completed": 100,
        "total_input_tokens": 51200,
        "total_output_tokens": 25600,
        "output_throughput": 4 * run.decode * 0.9,
        "median_ttft_ms": 200.0,
        "median_tpot_ms": 1000.0 / run.decode,
    }
    return {
        "output": json.dumps(result),
        "gpu": run.driver_name,
        "model": run.model,
        "quant": "AWQ",
        "runtime": "vLLM 0.27.0",
    }


def vllm_serve_table(run: Drawn) -> dict[str, object]:
    output = (
        "============ Serving Benchmark Result ============\n"
        "Successful requests:                     50\n"
        "Maximum request concurrency:             2\n"
        "Total input tokens:                      25600\n"
        "Total generated tokens:                  12800\n"
        f"Output token throughput (tok/s):         {2 * run.decode * 0.9:.2f}\n"
        "Median TTFT (ms):                        150.11\n"
        f"Median TPOT (ms):                        {1000 / run.decode:.4f}\n"
    )
    return {
        "output": output,
        "gpu": run.driver_name,
        "model": run.model,
        "quant": "AWQ",
        "runtime": "vLLM 0.27.0",
    }


def studio_line(run: Drawn) -> dict[str, object]:
    return {
        "output": f"{run.decode} tok/sec • 310 tokens • 0.31s to first token • Stop: EOS",
        "gpu": run.driver_name,
        "model": run.model,
        "quant": "Q4_K_M",
        "runtime": "LM Studio 0.4",
        "tg_tps": f"{run.decode:.2f}".replace(".", ","),
    }


def strata_matrix(run: Drawn) -> dict[str, object]:
    row = {
        "kv": "int8",
        "model": "Q2_0",
        "tier": "4k",
        "prompt_tokens": 3562,
        "exit": 0,
        "decode_tok_s": run.decode,
        "decoded": 256,
        "prefill_tok_s": 1299.44,
        "ttft_s": 4.21,
        "spec_accept": 0.838,
        "tokens_per_round": 3.23,
    }
    return {
        "output": json.dumps([row]),
        "gpu": run.driver_name,
        "cpu": "AMD Ryzen 5 7600",
        "ram_gb": "64 GB",
        "model": "Qwen3.8-Flash-Next",
        "quant": "Q2_0",
        "runtime": "Strata 0.2.22",
    }


def maya_bench(run: Drawn) -> dict[str, object]:
    output = (
        "Maya 1.1.77; GPUs: V100 PCIe 32GB; 64 GB RAM\n"
        f"decode: {run.decode} tokens/s over 3 answers\n"
        "prefill 2k: 300 tokens/s, 2048 tokens"
    )
    return {
        "output": output,
        "model": "GLM-5.3-Flash",
        "quant": "Maya-S IQ2_XXS",
        "ram_gb": "64",
        "cpu": "Xeon E5-2690 v4",
        "runtime": "Maya 1.1.77",
    }


TOOLS: Mapping[str, Callable[[Drawn], dict[str, object]]] = {
    maker.__name__: maker
    for maker in (
        ollama_verbose,
        ollama_answer,
        llama_bench_json,
        llama_bench_table,
        llama_benchy,
        vllm_serve_file,
        vllm_serve_table,
        studio_line,
        strata_matrix,
        maya_bench,
    )
}
TIERED = {"strata_matrix": ("RTX 5070", 60.0), "maya_bench": ("V100 PCIe 32GB", 15.0)}
"""Card and slowest speed of engines with experts in tiers, as rows of tiered.csv have them."""


def honest(number: int, chance: random.Random) -> Expected:
    """A report of the tool whose turn it is."""
    tool = list(TOOLS)[number % len(TOOLS)]
    run = drawn(chance)
    model = run.model
    if tool in TIERED:
        card, slowest = TIERED[tool]
        decode = round(slowest * chance.uniform(1.0, 1.4), 2)
        run = Drawn(**{**vars(run), "driver_name": card, "card": card, "decode": decode})
        model = {"strata_matrix": "Qwen3.8-Flash-Next", "maya_bench": "GLM-5.3-Flash"}[tool]
    values = TOOLS[tool](run)
    return Expected(
        issue=issue(number, form(**values)),
        speeds=(run.decode,),
        card=run.card,
        model=model,
        kind=tool,
    )


# Hostile reports: kind, what is changed in a sound one, and words of the refusal.


def sound() -> Drawn:
    """A plausible run of Qwen3-8B on an RTX 3090."""
    return Drawn(
        driver_name="NVIDIA GeForce RTX 3090",
        card="RTX 3090",
        model="Qwen3-8B",
        tag="qwen3:8b",
        bench_name="qwen3 8B Q4_K - Medium",
        decode=117.31,
        prompt=1789.5,
    )


def faster(**values: float) -> dict[str, object]:
    """The sound run with other speeds."""
    return ollama_verbose(Drawn(**{**vars(sound()), **values}))


def other_card(driver_name: str) -> Drawn:
    return Drawn(**{**vars(sound()), "driver_name": driver_name})


SOUND = ollama_verbose(sound())
PROCESSOR = {**SOUND, "gpu": "none", "cpu": "AMD Ryzen 7 7800X3D"}
HOSTILE: Mapping[str, tuple[str, str]] = {
    "twice the memory's rate": (form(**faster(decode=411.0)), "faster than its bytes allow"),
    "a large model on a small card": (
        form(**{**SOUND, "model": "llama3.1:70b", "gpu": "RTX 3060"}),
        "faster than its bytes allow",
    ),
    "a card's speed on a processor": (form(**PROCESSOR), "faster than its bytes allow"),
    "a prompt beyond all operations": (form(**faster(prompt=95_000.0)), "than it can compute"),
    "another card in llama-bench's JSON": (
        form(**{**llama_bench_json(other_card("NVIDIA GeForce RTX 4090")), "gpu": "RTX 3060"}),
        "another machine",
    ),
    "another card in the log": (
        form(**{**llama_bench_table(other_card("NVIDIA L4")), "gpu": "RTX 3060"}),
        "another machine",
    ),
    "another processor": (
        form(**{**llama_bench_json(sound()), "cpu": "Intel Core i9-13900K"}),
        "another machine",
    ),
    "another card in Maya's report": (
        form(**{**maya_bench(Drawn(**{**vars(sound()), "decode": 17.0})), "gpu": "RTX 5090"}),
        "another machine",
    ),
    "a speed that was not printed": (form(**{**SOUND, "tg_tps": "171.3"}), "in its output"),
    "a prompt's speed that was not printed": (
        form(**{**SOUND, "pp_tps": "9000"}),
        "in its output",
    ),
    "another model in the output": (
        form(**{**llama_bench_json(sound()), "model": "Qwen3-32B"}),
        "Its output is of",
    ),
    "no number": (form(**{**SOUND, "tg_tps": "NaN"}), "a number is expected"),
    "an endless number": (form(**{**SOUND, "tg_tps": "inf"}), "a number is expected"),
    "milliseconds for a rate": (form(**{**SOUND, "tg_tps": "80 ms a token"}), "number is expected"),
    "below nothing": (form(**{**SOUND, "gpu_count": "-1"}), "a number is expected"),
    "a thousand cards": (form(**{**SOUND, "gpu_count": "1000"}), "0 to 64"),
    "a million users": (form(**{**SOUND, "batch": "1,000,000"}), "users at once"),
    "a day to come": (form(**{**SOUND, "date": "2031-05-05"}), "Its day is"),
    "no day": (form(**{**SOUND, "date": "yesterday"}), "Its day is"),
    "without agreement": (form(agree=" ", **SOUND), "not agreed"),
    "an empty issue": ("", "none of the form's headings"),
    "an advertisement": ("Buy tokens at https://spam.example! " * 40, "form's headings"),
    "a card that nobody sells": (form(**{**SOUND, "gpu": "RTX 9999 Ultra"}), "RTX 9999"),
    "a model that nobody has": (form(**{**SOUND, "model": "zzyzx-ultra"}), "zzyzx"),
    "a program that nobody knows": (
        form(**{**SOUND, "runtime": "turbo-magic 9000"}),
        "No engine that is described",
    ),
    "a formula of a spreadsheet": (
        form(**{**SOUND, "cpu": '=HYPERLINK("https://spam.example")'}),
        "no name has",
    ),
    "a script": (form(**{**SOUND, "cpu": "<script>alert(1)</script>"}), "no name has"),
    "a name that runs backwards": (
        form(**{**SOUND, "cpu": "Ryzen \u202e0085 7"}),
        "cannot be printed",
    ),
    "two answers to one question": (
        f"### GPU\n\nRTX 5090\n\n{form(**SOUND)}",
        "stands twice",
    ),
    "a report without end": (form(**{**SOUND, "output": "x" * 70_000}), "at most 65,536"),
}


def hostile() -> list[Expected]:
    """One report of each kind of attack."""
    return [
        Expected(issue=issue(1000 + place, body), reason=reason, kind=kind)
        for place, (kind, (body, reason)) in enumerate(HOSTILE.items())
    ]


def reports(seed: int, among: int = 70) -> list[Expected]:
    """Honest and hostile reports, in a drawn order."""
    chance = random.Random(seed)
    every = [honest(number, chance) for number in range(among)] + hostile()
    chance.shuffle(every)
    return every


def taken_of(*issues: Mapping[str, Any]) -> Intake:
    """Intake of issues as the forge lists them."""
    return take(
        SentReport(
            name=f"issue {row['number']}",
            sender=row["author"]["login"],
            address=row["url"],
            day=row["createdAt"][:10],
            text=row["body"],
        )
        for row in issues
    )
