"""Questions to the program, drawn at random from its catalogues.

A question is a line of text: the arguments of a command. Where a command reads a file, its content
stands in the file's place; pages are addresses.
"""

import csv
import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias, TypeVar

DATA = Path(__file__).parents[1] / "data"

T = TypeVar("T")
Values: TypeAlias = Sequence[object]

REQUEST: Mapping[str, Values] = {
    "--context": (2048, 4096, 16384, 32768, 131072),
    "--prompt": (64, 1000, 4000, 16000),
    "--cached": (256, 500),
    "--output": (32, 128, 700, 2000),
    "--users": (2, 4, 16, 64),
    "--kv-type": ("q8_0", "q4_0", "fp8"),
    "--ubatch": (256, 1024, 2048),
    "--cached-share": (0.5, 0.9),
    "--draft": ("mtp", "eagle --acceptance 0.7", "ngram --acceptance 0.4 --draft-tokens 5"),
    "--swa-full": (None,),
}
"""Options of a request, each with values to draw; None for an option without a value."""
SPLIT: Mapping[str, Values] = {
    "--runtime": ("llama.cpp", "vLLM", "Ollama", "SGLang", "Accelerate", "ik_llama.cpp", "MLX",
                  "KTransformers", "ExLlamaV3", "FlexGen", "DeepSpeed", "TensorRT-LLM"),
    "--gpu-layers": (0, 10, 30, 99),
    "--cpu-moe": (8, 24, 99),
    "--cache-gb": (4, 20),
    "--load-mode": ("mmap", "none", "mlock"),
    "--no-kv-offload": (None,),
    "--expert-parallel": (None,),
}  # fmt: skip
"""Options that say how a runtime divides a model."""
PARTS: Mapping[str, Values] = {
    "--cpu": ("'Ryzen 9 7950X'", "i9-14900K", "'EPYC 9355'", "'Threadripper PRO 7995WX'",
              "'2x Xeon Gold 6330'", "'Ryzen 7 5800X3D'"),
    "--ram-gbs": (35, 70, 400),
    "--ram-channels": (2, 8, 12),
    "--ram-mts": (3200, 6000),
    "--cores": (6, 16, 64),
    "--pcie-gbs": (6, 24),
    "--pcie-gen": (3, 4, 5),
    "--pcie-lanes": (4, 8),
    "--disk": ("'Samsung 990 PRO'", "'SATA SSD (typical)'"),
    "--disk-gbs": (2, 12),
    "--backend": ("vulkan", "cuda", "rocm"),
    "--system": ("windows", "linux"),
    "--build": ("b6715", "2025-03"),
    "--vram-gb": (12, 48),
    "--screen-gb": (2,),
    "--machines": (2, 4),
}  # fmt: skip
"""Options that state parts of a machine."""
MONEY: Mapping[str, Values] = {
    "--replies-per-day": (5, 300, 5000),
    "--days-per-week": (5,),
    "--answer-hours": (2, 12),
    "--usd-per-hour-of-time": (0, 40, 120),
    "--rented-hours-per-day": (8, 24),
    "--starts-per-day": (3,),
    "--thinking-tokens": (2000,),
    "--hours-on-per-day": (4, 24),
    "--purchase-months": (12, 60),
    "--usd-per-kwh": (0.08, 0.40),
    "--own": ("nothing", "'2x RTX 3090'"),
    "--resale": (0, 900),
    "--api-usd-in": ("0.2 --api-usd-out 0.6", "1 --api-usd-out 4 --api-tps 70"),
    "--form": ("laptop", "server"),
    "--rented-at": (1.9,),
}
"""Options of costs."""
LOAD: Mapping[str, Values] = {
    "--requests-per-hour": (20, 300, 3000),
    "--user-tps": (5, 15, 30),
    "--first-token-within": (2, 10),
    "--length-spread": (0.7,),
}
"""Options of a server for many users."""
TARGET: Mapping[str, Values] = {
    "--max-usd-per-month": (100, 600),
    "--max-usd": (1500, 6000),
    "--own": ("nothing",),
}
"""Options of a search."""
FORMATS = ("Q4_K_M", "Q8_0", "BF16", "AWQ", "IQ2_XS", "MXFP4", "Q3_K_L", "FP8", "UD-Q2_K_XL",
           "IQ4_XS", "Q6_K", "bnb-nf4", "NVFP4", "Q5_K_S", "TQ1_0")  # fmt: skip
USUAL_GPUS = ("RTX 3090", "RTX 4090", "RTX 5090", "RTX 3060 12GB", "RX 7900 XTX", "H100 SXM",
              "B200", "MI300X", "A100 SXM 80GB", "RTX 4060 Ti 16GB", "P40", "RTX 4070 Laptop",
              "Arc B580", "Apple M2 Ultra 76c", "Apple M4 Pro 20c", "Radeon 8060S",
              "GB10")  # fmt: skip
USUAL_RAM = (16, 32, 64, 128, 192, 512)
TYPED_MODELS = ("llama3:70b", "Qwen/Qwen3-32B", "deepseek-r1:14b", "Nope-13B", "Foo-8x7B",
                "unsloth/gpt-oss-20b-GGUF", "mistral small 24b", "qwen3 235b a22b",
                "gemma3:27b-it-qat", "Llama 4 Scout")  # fmt: skip
TYPED_MACHINES = ("3090", "RTX 4090 laptop", "2x RTX 3090 + RTX 4090", "DGX Spark",
                  "MacBook Pro M4 Max 64GB", "Mac Studio M3 Ultra 512GB", "8x H100", "MI300X",
                  "Ryzen AI Max+ 395 128GB", "4x A100 80GB", "Steam Deck", "Jetson Orin 64GB",
                  "g6e.xlarge", "EPYC 9654", "Arc B580", "1080 ti", "RTX 6000 Pro",
                  "Threadripper 3970X with 256 GB and 2x 3090", "GB200 NVL72")  # fmt: skip
"""Names as people type them."""
PAGES = ("advise", "find", "run", "accuracy", "method", "reports")
TABLES = ("llama_cpp", "llama_cpp_more", "offload_papers", "frameworks_more", "own")


class Draw:
    """Random questions of every kind; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.models = _names("models/models.csv")
        self.gpus = _names("hardware/gpus.csv")
        self.machines = _names("hardware/machines.csv")

    def questions(self) -> list[str]:
        """All questions, each once, in order of their text."""
        kinds: tuple[tuple[int, Callable[[], Sequence[str]]], ...] = (
            (120, self.estimate), (50, self.advise), (16, self.many_users), (10, self.find),
            (6, self.find_here), (30, self.diagnose), (40, self.model), (50, self.machine),
            (14, self.report_run), (8, self.report_compare), (14, self.page),
        )  # fmt: skip
        drawn = {shlex.join(draw()) for count, draw in kinds for _ in range(count)}
        return sorted(drawn | {shlex.join(row) for row in self.rows(each=6)})

    def estimate(self) -> list[str]:
        """Speeds of a model on a machine."""
        return ["estimate", *self._model(), *self._where(), *self._some(REQUEST, SPLIT), "--json"]

    def advise(self) -> list[str]:
        """Options and costs."""
        options = self._some(REQUEST, SPLIT, MONEY, MONEY)
        return ["advise", *self._model(), *self._where(), *options, *self._plain_or_json()]

    def many_users(self) -> list[str]:
        """A server under load."""
        load = ["--requests-per-hour", str(self._pick(LOAD["--requests-per-hour"]))]
        options = self._some(LOAD, MONEY, without=("--requests-per-hour",))
        return ["advise", *self._model(), *self._where(), *load, *options, *self._plain_or_json()]

    def find(self) -> list[str]:
        """Machines for a model."""
        least = ["--min-tps", str(self._pick((5, 15, 40)))]
        options = self._some(TARGET, REQUEST, without=("--draft", "--swa-full"))
        return ["find", "--model", self._pick(self.models), *least, *options, "--json"]

    def find_here(self) -> list[str]:
        """Models for a machine."""
        return ["find", *self._where(), *self._some(REQUEST), "--json"]

    def diagnose(self) -> list[str]:
        """Causes of a measured speed."""
        measured = ["--measured", str(self._pick((0.8, 3, 11, 45, 160)))]
        return ["diagnose", *self._model(), *self._where(), *measured, *self._some(SPLIT), "--json"]

    def model(self) -> list[str]:
        """Bytes of a model."""
        return ["model", self._model_name(), "--quant", self._pick(FORMATS), "--json"]

    def machine(self) -> list[str]:
        """Meaning of a machine's name."""
        catalogues = (self.machines, self.gpus, TYPED_MACHINES)
        return ["machine", self._pick(self._pick(catalogues)), "--json"]

    def report_run(self) -> list[str]:
        """A scenario file."""
        models = [self._model_name() for _ in range(self._pick((1, 2)))]
        machines = [
            {"name": str(number), "gpu": self._gpu(), "ram_gb": self._pick(USUAL_RAM)}
            for number in range(self._pick((1, 2)))
        ]
        least = {"min_decode_tps": self._pick((2, 20)), "max_ttft_s": self._pick((1, 20))}
        scenario = {"models": models, "machines": machines, "conditions": least}
        return ["report", "run", json.dumps(scenario), *self._plain_or_json()]

    def report_compare(self) -> list[str]:
        """Two saved answers side by side."""
        saved = [
            shlex.join([*self._model(), *self._where(), *self._some(REQUEST, MONEY)])
            for _ in range(2)
        ]
        return ["report", "compare", *saved, *self._plain_or_json()]

    def page(self) -> list[str]:
        """Texts of a page."""
        name = self._pick(PAGES)
        typed = {"model": self._pick(self.models), "machine": "Another machine",
                 "gpu": self._gpu(), "context": self._pick(("8k", "32k"))}  # fmt: skip
        if name in ("advise", "find", "run"):
            told = typed
        else:
            told = {}
        return ["page", name, *(f"{key}={value}" for key, value in told.items())]

    def rows(self, each: int) -> Iterator[list[str]]:
        """Published rows of every category of every table, so many of each at most."""
        for table in TABLES:
            by_category = defaultdict(list)
            for row in _read(f"measurements/{table}.csv"):
                by_category[row["category"]].append(row["id"])
            for _, ids in sorted(by_category.items()):
                for number in self.random.sample(ids, min(each, len(ids))):
                    yield ["predict", table, number]

    def _model(self) -> list[str]:
        if self.random.random() < 0.5:
            form = ["--quant", self._pick(FORMATS)]
        else:
            form = []
        return ["--model", self._model_name(), *form]

    def _model_name(self) -> str:
        return self._pick(TYPED_MODELS if self.random.random() < 0.15 else self.models)

    def _where(self) -> list[str]:
        """Options of a machine that is named, so that answers are the same on all machines."""
        kind = self.random.random()
        if kind < 0.25:
            return ["--machine", self._pick(self.machines)]
        ram = ["--ram-gb", str(self._pick(USUAL_RAM))]
        if kind < 0.35:
            return ["--gpu", "none", *ram, *self._some({"--cpu": PARTS["--cpu"]})]
        if kind < 0.45:
            return ["--gpu", self._pick(("2x RTX 3090 + RTX 4090", "RTX 4090 + P40")), *ram]
        if kind < 0.6:
            count = ["--gpu-count", str(self._pick((2, 4, 8)))]
        else:
            count = []
        return ["--gpu", self._gpu(), *count, *ram, *self._some(PARTS, PARTS)]

    def _gpu(self) -> str:
        return self._pick(USUAL_GPUS if self.random.random() < 0.6 else self.gpus)

    def _some(self, *tables: Mapping[str, Values], without: Sequence[str] = ()) -> list[str]:
        """None or one option of each table, with a value."""
        words: list[str] = []
        for options in tables:
            name = self._pick(sorted(options.keys() - {*without, *words}))
            if self.random.random() < 0.6:
                value = self._pick(options[name])
                words += shlex.split(f"{name} {'' if value is None else value}")
        return words

    def _plain_or_json(self) -> list[str]:
        if self.random.random() < 0.7:
            return ["--json"]
        return []

    def _pick(self, values: Sequence[T]) -> T:
        return self.random.choice(values)


def _read(path: str) -> list[dict[str, str]]:
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _names(path: str) -> list[str]:
    return [row["name"] for row in _read(path)]
