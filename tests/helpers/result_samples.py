"""Results of other tools, written after their documentation.

llama-bench: ggml-org/llama.cpp, tools/llama-bench/README.md at 5a32f10. Ollama:
https://docs.ollama.com/api/usage. LM Studio: lmstudio-ai/docs, 1_developer/2_rest at c6854fb. vLLM:
vllm-project/vllm, vllm/benchmarks/serve.py at def9ce8 and throughput.py. All read 2026-11-21.
Samples named PUBLISHED have the numbers of a tool's own documentation, with the source.
"""

import csv
import io

BENCH = {
    "build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "AMD Ryzen 7 7800X3D",
    "gpu_info": "", "backends": "CPU", "model_filename": "models/qwen2.gguf",
    "model_type": "qwen2 7B Q4_K - Medium", "model_size": 4677120000,
    "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "n_threads": 8,
    "type_k": "f16", "type_v": "f16", "n_gpu_layers": 0, "n_prompt": 0, "n_gen": 128,
    "n_depth": 512, "test_time": "2026-04-24T11:58:51Z", "avg_ns": 12800000000,
    "stddev_ns": 100000000, "avg_ts": 10.0, "stddev_ts": 0.08,
    "samples_ns": [12700000000, 12900000000], "samples_ts": [10.08, 9.92],
}  # fmt: skip
PROMPT = BENCH | {"n_prompt": 512, "n_gen": 0, "n_depth": 0, "avg_ts": 64.0, "samples_ts": [64.0]}
BOTH = BENCH | {"n_prompt": 512}
OLLAMA = {
    "model": "gemma3", "created_at": "2026-10-17T23:14:07.414671Z", "response": "", "done": True,
    "done_reason": "stop", "total_duration": 6_100_000_000, "load_duration": 100_000_000,
    "prompt_eval_count": 26, "prompt_eval_duration": 130_000_000, "eval_count": 290,
    "eval_duration": 5_800_000_000,
}  # fmt: skip
STUDIO_0 = {
    "id": "chatcmpl-1", "object": "chat.completion", "model": "granite-3.0-2b-instruct",
    "choices": [],
    "usage": {"prompt_tokens": 24, "completion_tokens": 53, "total_tokens": 77},
    "stats": {
        "tokens_per_second": 51.4, "time_to_first_token": 0.111, "generation_time": 0.954,
        "stop_reason": "eosFound",
    },
    "model_info": {"arch": "granite", "quant": "Q4_K_M", "format": "gguf"},
    "runtime": {"name": "llama.cpp-linux", "version": "1.3.0", "supported_formats": ["gguf"]},
}  # fmt: skip
STUDIO_1 = {
    "model_instance_id": "ibm/granite-4-micro", "output": [],
    "stats": {
        "input_tokens": 646, "total_output_tokens": 586, "reasoning_output_tokens": 0,
        "tokens_per_second": 29.75, "time_to_first_token_seconds": 1.088,
    },
    "response_id": "resp_1",
}  # fmt: skip
SERVE = {
    "date": "20261121-093000", "endpoint_type": "vllm", "backend": "vllm", "label": None,
    "model_id": "Qwen/Qwen3-8B", "num_prompts": 100, "request_rate": "inf", "max_concurrency": 16,
    "duration": 50.0, "completed": 100, "total_input_tokens": 51200, "total_output_tokens": 12800,
    "request_throughput": 2.0, "output_throughput": 256.0, "total_token_throughput": 1280.0,
    "mean_ttft_ms": 210.0, "median_ttft_ms": 200.0, "mean_tpot_ms": 42.0, "median_tpot_ms": 40.0,
}  # fmt: skip
THROUGHPUT = {
    "elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 40000,
    "requests_per_second": 5.0, "tokens_per_second": 2000.0,
}  # fmt: skip

PUBLISHED_BENCH = {
    "build_commit": "8cf427ff", "build_number": 5163,
    "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor", "gpu_info": "NVIDIA GeForce RTX 4080",
    "backends": "CUDA", "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
    "model_type": "qwen2 7B Q4_K - Medium", "model_size": 4677120000,
    "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "n_threads": 8,
    "n_gpu_layers": 99, "n_prompt": 512, "n_gen": 0, "n_depth": 0,
    "test_time": "2025-04-24T11:58:50Z", "avg_ns": 72135640, "stddev_ns": 1453752,
    "avg_ts": 7100.002165, "stddev_ts": 140.341520,
    "samples_ns": [74601900, 71632900, 71745200, 71952700, 70745500],
    "samples_ts": [6863.1, 7147.55, 7136.37, 7115.79, 7237.21],
}  # fmt: skip
"""The JSON example of tools/llama-bench/README.md of llama.cpp, read 2026-11-21."""
OLDER_BENCH = {key: value for key, value in PUBLISHED_BENCH.items() if key != "n_depth"}
"""Builds before May 2025 had no depth."""
NEWER_BENCH = PUBLISHED_BENCH | {
    "n_gpu_layers": -1,
    "flash_attn": -1,
    "devices": "auto",
    "load_mode": "auto",
}
"""-1 where nobody says how many layers go to the GPU: the default since December 2025
(github.com/ggml-org/llama.cpp/pull/18266; README at 08d0baa says so), read 2026-11-21."""
PUBLISHED_OLLAMA = {
    "model": "llama3.2", "created_at": "2023-08-04T19:22:45.499127Z", "done": True,
    "total_duration": 4883583458, "load_duration": 1334875, "prompt_eval_count": 26,
    "prompt_eval_duration": 342546000, "eval_count": 282, "eval_duration": 4535599000,
}  # fmt: skip
"""The last answer of /api/chat in docs/api.md of ollama/ollama, read 2026-11-21."""
PUBLISHED_STUDIO_0 = {
    "id": "chatcmpl-i3gkjwthhw96whukek9tz", "object": "chat.completion",
    "model": "granite-3.0-2b-instruct", "choices": [],
    "usage": {"prompt_tokens": 24, "completion_tokens": 53, "total_tokens": 77},
    "stats": {
        "tokens_per_second": 51.43709529007664, "time_to_first_token": 0.111,
        "generation_time": 0.954, "stop_reason": "eosFound",
    },
    "runtime": {"name": "llama.cpp-mac-arm64-apple-metal-advsimd", "version": "1.3.0"},
}  # fmt: skip
"""The example of /api/v0/chat/completions, lmstudio-ai/docs endpoints.md, read 2026-11-21."""
PUBLISHED_STUDIO_1 = {
    "model_instance_id": "ibm/granite-4-micro", "output": [],
    "stats": {
        "input_tokens": 646, "total_output_tokens": 586, "reasoning_output_tokens": 0,
        "tokens_per_second": 29.753900615398926, "time_to_first_token_seconds": 1.088,
        "model_load_time_seconds": 2.656,
    },
    "response_id": "resp_4ef013eba0def1ed23f19dde72b67974c579113f544086de",
}  # fmt: skip
"""The example of /api/v1/chat, lmstudio-ai/docs chat.md, read 2026-11-21."""

# schemas/sample.json of eugr/llama-benchy, without its time series
BENCHY = {
    "version": "0.2.2.dev7+gcd427054e", "timestamp": "2026-02-07 19:09:00Z", "latency_mode": "api",
    "latency_ms": 1.27, "model": "test", "prefix_caching_enabled": True, "max_concurrency": 2,
    "benchmarks": [
        {
            "concurrency": 1, "context_size": 0, "prompt_size": 2048, "response_size": 32,
            "is_context_prefill_phase": False,
            "pp_req_throughput": {"mean": 987.1, "std": 1.08, "values": [986.0, 988.2]},
            "tg_throughput": {"mean": 49.98, "std": 0.03, "values": [50.01, 49.95]},
            "tg_req_throughput": {"mean": 49.98, "std": 0.03, "values": [50.01, 49.95]},
            "e2e_ttft": {"mean": 2076.0, "std": 2.3, "values": [2078.3, 2073.8]},
        },
    ],
}  # fmt: skip


def as_csv(*rows: dict[str, object]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def as_sql(*rows: dict[str, object]) -> str:
    """As llama-bench -o sql writes them: tools/llama-bench/README.md at 5a32f10."""
    lines = ["CREATE TABLE IF NOT EXISTS llama_bench (build_commit TEXT);"]
    for row in rows:
        values = ", ".join(f"'{value}'" for value in row.values())
        lines.append(f"INSERT INTO llama_bench ({', '.join(row)}) VALUES ({values});")
    return "\n".join(lines)
