"""`watch`: servers that tell recorded figures, and what is said of them."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from engine import needs_engine
from llama_server import complete, llama_server

from advisor.cli.main import main
from advisor.errors import InputError
from advisor.failures import ProbeError
from advisor.model.architecture import ArchitectureSpec
from advisor.probes.llama_cpp.synthetic_model import in_type, write
from advisor.probes.server import from_metrics, from_ollama, read_server

TINY = ArchitectureSpec(
    name="tiny",
    layers=2,
    hidden=256,
    intermediate=512,
    heads=4,
    kv_heads=2,
    head_dim=64,
    vocab=512,
)
MACHINE = ("--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64")
Pages = Mapping[str, str | list[str] | int]


@pytest.fixture
def serve() -> Iterator[Callable[[Pages], str]]:
    """Starts a server of pages by path; a list of pages is served one by one, then the last."""
    servers = []

    def start(pages: Pages) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = pages.get(self.path)
                if isinstance(page, list):
                    if len(page) > 1:
                        page = page.pop(0)
                    else:
                        page = page[0]
                if not isinstance(page, int):
                    status = 404 if page is None else 200
                else:
                    status = page
                self.send_response(status)
                self.end_headers()
                self.wfile.write(page.encode() if isinstance(page, str) else b"")

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def llama(tokens: float, seconds: float, prompt: float = 0, prompt_seconds: float = 0) -> str:
    """Counters as llama-server prints them (tools/server/README.md)."""
    return f"""# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total {prompt}
llamacpp:prompt_seconds_total {prompt_seconds}
llamacpp:tokens_predicted_total {tokens}
llamacpp:tokens_predicted_seconds_total {seconds}
llamacpp:requests_processing 1
llamacpp:requests_deferred 0
"""


def vllm(hits: float = 900, preemptions: float = 0) -> str:
    """Counters as vLLM prints them, with the labels of two engines."""
    return "\n".join(
        f'vllm:{name}{{engine="{engine}",model_name="org/Some-8B"}} {value / 2}'
        for name, value in (
            ("inter_token_latency_seconds_count", 4000),
            ("inter_token_latency_seconds_sum", 40),
            ("prefix_cache_queries_total", 20000),
            ("prefix_cache_hits_total", hits),
            ("num_preemptions_total", preemptions),
            ("num_requests_running", 2),
        )
        for engine in (0, 1)
    )


PROPS = json.dumps({"model_path": "/models/a.gguf", "default_generation_settings": {"n_ctx": 8192}})


def test_a_sound_server_is_as_it_should_be(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["estimate", *MACHINE, "--runtime", "llama.cpp", "--json"])
    speed = json.loads(capsys.readouterr().out)[0]["decode_tps"]
    url = serve({"/metrics": llama(2000, 2000 / speed), "/props": PROPS})
    assert main(["watch", url, *MACHINE, "--total"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("llama.cpp serves a.gguf.\n")
    assert text.endswith("All is as it should be.\n")


def test_a_loss_is_an_alarm_with_its_likeliest_cause(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    # 8 tokens/s of an 8B model in a card that writes over 100: the processor alone does that
    url = serve({"/metrics": llama(2000, 250), "/props": PROPS})
    assert main(["watch", url, *MACHINE, "--total"]) == 1
    text = capsys.readouterr().out
    assert "The GPU is not used at all" in text.partition("1. ")[2].splitlines()[0]
    assert main(["watch", url, *MACHINE, "--total", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["alarm"], record["serves"]) == (True, "a.gguf")
    assert record["diagnosis"]["causes"][0]["cause"] == "cpu_alone"


def test_only_what_is_counted_from_now_on_is_judged(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [llama(5000, 1000), llama(5100, 1001), llama(5400, 1004)]  # 100 tokens/s since
    url = serve({"/metrics": pages, "/props": PROPS})
    words = ["watch", url, *MACHINE, "--every", "0.1", "--tokens", "300"]
    assert main(words) == 0
    assert "100 tokens\n400 tokens, 100 tokens/s\n" in capsys.readouterr().out


def test_a_server_that_is_started_anew_counts_from_nothing() -> None:
    before = from_metrics(llama(5000, 1000))
    now = from_metrics(llama(300, 3))
    assert before is not None
    assert now is not None
    assert (now.since(before).tokens, now.since(before).token_seconds) == (300, 3)


def test_labels_of_several_engines_add_up() -> None:
    reading = from_metrics(vllm())
    assert reading is not None
    assert (reading.server, reading.model) == ("vLLM", "org/Some-8B")
    assert (reading.tokens, reading.token_seconds, reading.running) == (4000, 40, 2)


def test_a_cache_that_never_hits_and_users_thrown_out_are_named(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = serve({"/metrics": vllm()})
    loud = serve({"/metrics": vllm(hits=100, preemptions=7)})
    main(["watch", quiet, *MACHINE, "--total"])
    assert "prefix cache" not in capsys.readouterr().out
    main(["watch", loud, *MACHINE, "--total"])
    text = capsys.readouterr().out
    assert "The prefix cache hardly ever hits" in text
    assert "7 users were thrown out of the cache" in text


def test_a_model_of_ollama_that_lies_in_ram_is_an_alarm(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"name": "llama3.1:8b", "size": 8e9, "size_vram": 6e9, "context_length": 32768}
    url = serve({"/api/ps": json.dumps({"models": [model]})})
    assert main(["watch", url, *MACHINE]) == 1
    text = capsys.readouterr().out
    assert "25% of the model lies in RAM, though it fits in the GPU" in text
    assert "Each user has a context of 32k, where 8k is expected" in text
    assert "It counts no tokens" in text


def test_a_context_of_the_server_that_is_shorter_than_the_stated_one_is_told(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"name": "llama3.1:8b", "size": 8e9, "size_vram": 8e9, "context_length": 2048}
    url = serve({"/api/ps": json.dumps({"models": [model]})})
    main(["watch", url, *MACHINE, "--context", "16384"])
    assert "Each user has a context of 2k, and 16k is expected" in capsys.readouterr().out
    main(["watch", url, *MACHINE, "--prompt", "4000"])
    assert "Each user has a context of 2k" in capsys.readouterr().out
    main(["watch", url, *MACHINE])
    assert "Each user has a context" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ({}, "tells figures as llama-server"),
        ({"/metrics": "python_gc_objects 3"}, "tells figures as llama-server"),
        ({"/props": "{}"}, "start it with --metrics"),
        ({"/metrics": 401}, "asks for an API key"),
        ({"/metrics": 503}, "loads its model"),
        ({"/get_model_info": "{}"}, "SGLang at .* start it with --enable-metrics"),
        ({"/api/extra/perf": "{}"}, "KoboldCpp at .* has no page of counters"),
        ({"/api/v0/models": "{}"}, "LM Studio at .* has no page of counters"),
        ({"/v1/model": "{}"}, "TabbyAPI at .* has no page of counters"),
        ({"/metrics": "<!DOCTYPE html><html>vllm:x 1"}, "is a web page and no list of counters"),
        (
            dict.fromkeys(("/metrics", "/api/ps", "/props", "/v1/model"), "<html><body>"),
            "port of the model's server itself",
        ),
        ({"/api/ps": "{}"}, "not as Ollama does"),
        ({"/api/ps": '{"models": []}'}, "Ollama holds no model now"),
        ({"/api/ps": "[" * 100_000}, "not as Ollama does"),
    ],
)
def test_another_answer_is_said_in_a_sentence(
    pages: Pages, words: str, serve: Callable[[Pages], str]
) -> None:
    with pytest.raises(ProbeError, match=words):
        read_server(serve(pages))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "ftp://x", "http://x:999999", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is no address of a server"):
        read_server(url)


def test_nothing_there_is_said() -> None:
    with pytest.raises(ProbeError, match=r"/metrics does not answer: Connection refused\. Start"):
        read_server("http://127.0.0.1:9")


def test_odd_numbers_count_nothing() -> None:
    page = llama(2000, 20).replace(" 20\n", " NaN\n")
    reading = from_metrics(page)
    assert reading is not None
    assert reading.token_seconds is None
    odd = from_ollama(
        '{"models": [{"name": 3, "size": 0, "size_vram": "x", "context_length": -1}]}'
    )
    assert (odd.model, odd.in_gpu, odd.context) == ("3", None, None)


@needs_engine
def test_a_real_server_is_read(tmp_path: Path) -> None:
    """llama.cpp itself on the processor: what it computed, and what its cache spared it."""
    path = tmp_path / "tiny-Q8_0.gguf"
    with path.open("wb") as file:
        write(file, in_type(TINY, "Q8_0"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with llama_server(path, port) as url:
        before = read_server(url)
        for _ in range(3):
            complete(url, [1, 2, 3, 4, 5] * 100, 100)
        reading = read_server(url).since(before)
    assert (reading.server, reading.model, reading.context) == ("llama.cpp", path.name, 2048)
    assert reading.tokens == 300
    assert (reading.prompt_tokens or 0) + (reading.cache_hits or 0) == reading.cache_queries == 1500
    assert (reading.prompt_tokens or 0) < 600  # the second and third prompt were in the cache
    assert (reading.token_seconds or 0) > 0


def old_vllm(separator: str = ":") -> str:
    """Counters as vLLM printed them until 2025 (docs.vllm.ai, v0.8, Production Metrics)."""
    return "\n".join(
        f'vllm{separator}{name}{{model_name="org/Some-8B"}} {value}'
        for name, value in (
            ("time_per_output_token_seconds_count", 4000),
            ("time_per_output_token_seconds_sum", 40),
            ("gpu_prefix_cache_queries_total", 20000),
            ("gpu_prefix_cache_hits_total", 900),
            ("request_prompt_tokens_sum", 5000),
            ("num_requests_running", 2),
        )
    )


@pytest.mark.parametrize(
    ("page", "server"),
    [
        (llama(2000, 40), "llama.cpp"),
        (json.dumps(llama(2000, 40)), "llama.cpp"),  # github.com/ggml-org/llama.cpp/issues/17384
        (llama(2000, 40).replace("llamacpp:", "llamacpp_"), "llama.cpp"),  # of a collector
        (old_vllm(), "vLLM"),
        (old_vllm("_"), "vLLM"),
        (vllm(), "vLLM"),
    ],
)
def test_pages_of_other_builds_and_collectors_are_read(page: str, server: str) -> None:
    reading = from_metrics(page)
    assert reading is not None
    assert reading.server == server
    assert reading.tokens in (2000, 4000)
    assert reading.token_seconds == 40


@pytest.mark.parametrize("listed", [True, False])
def test_a_router_is_asked_for_the_model_that_it_has_loaded(
    serve: Callable[[Pages], str], *, listed: bool
) -> None:
    models = {"data": [{"id": "qwen3-32b", "status": {"value": "loaded"}}, {"id": "other"}]}
    pages: Pages = {
        "/metrics?model=qwen3-32b": llama(4000, 190),
        "/props": json.dumps({"role": "router", "max_instances": 4}),
    }
    if listed:
        pages["/models"] = json.dumps(models)
    reading = read_server(serve(pages), "Qwen3-32B")
    assert (reading.server, reading.model, reading.tokens) == ("llama.cpp", "qwen3-32b", 4000)
    named = read_server(f"{serve(pages)}/?model=qwen3-32b")
    assert named.tokens == 4000


def test_a_router_without_the_model_is_told_to_be_one(serve: Callable[[Pages], str]) -> None:
    url = serve({"/props": json.dumps({"role": "router"})})
    with pytest.raises(ProbeError, match=r"is a router of several models.*\?model=NAME") as told:
        read_server(url, "Qwen3-32B")
    assert "--metrics" not in str(told.value)


def test_another_model_on_the_server_is_said_and_not_judged(
    serve: Callable[[Pages], str], capsys: pytest.CaptureFixture[str]
) -> None:
    props = json.dumps({"model_path": "/models/Qwen3-32B-Q4_K_M.gguf"})
    url = serve({"/metrics": llama(4000, 190), "/props": props})
    assert main(["watch", url, *MACHINE, "--total"]) == 1
    text = capsys.readouterr().out
    assert "serves Qwen3-32B-Q4_K_M.gguf (Qwen3-32B), and Llama-3.1-8B is expected" in text
    assert "All is as it should be" not in text
    assert "tokens/s" not in text
