"""Rows of a measurement file: each gets an answer or a reason, and its stated values are used."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from measurements import measured
from published_rows import answer, understood

from advisor.cli.main import main
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import AdvisorError
from advisor.evidence.published import predict
from advisor.evidence.published.row import ANSWERED, PublishedRow
from advisor.model import catalog
from advisor.units import GB, GIB

# As the design has them; other programs read these columns.
COLUMNS = ("id", "tg_tps", "tg_low", "tg_high", "tg_tps_total", "e2e_tps_total", "pp_tps",
           "pp_low", "pp_high",
           "ttft_s", "fits", "bottleneck", "note")  # fmt: skip
NUMBERS = COLUMNS[1:10]

ROW = {
    "id": "x1",
    "category": "partial",
    "runtime": "llama.cpp CUDA",
    "gpu": "RTX 4090",
    "cpu": "Ryzen 9 7950X",
    "model": "Llama-3.1-70B",
    "quant": "Q4_K_M",
    "ngl": "40",
    "context_depth": "0",
}


def row(**changes: str) -> dict[str, str]:
    return {**ROW, **changes}


def predictions(rows: Iterable[dict[str, str]]) -> list[dict[str, object]]:
    return list(predict.predictions(rows))


def file(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def assert_answered_or_explained(record: dict[str, object]) -> None:
    assert tuple(record) == COLUMNS
    if record["tg_tps"] == "":
        assert record["note"]
        assert {record[name] for name in NUMBERS} == {""}
        return
    values = [record[name] for name in NUMBERS]
    assert all(isinstance(value, float) and math.isfinite(value) and value > 0 for value in values)
    assert record["tg_low"] <= record["tg_tps"] <= record["tg_high"]
    assert record["pp_low"] < record["pp_tps"] < record["pp_high"]
    assert record["fits"] in {"true", "false"}
    assert record["bottleneck"]


def test_the_columns_fit_other_programs() -> None:
    assert COLUMNS == ANSWERED
    assert_answered_or_explained(answer(ROW))


def test_every_published_row_of_llama_cpp_gets_a_number_or_a_reason() -> None:
    rows = [item for item in measured("llama_cpp.csv") if item["doubtful"] != "True"]
    records = predictions(rows)
    assert [item["id"] for item in records] == [row["id"] for row in rows]
    for record in records:
        assert_answered_or_explained(record)
    assert sum(item["tg_tps"] != "" for item in records) >= 0.98 * len(rows)


def test_every_fourth_row_of_the_papers_gets_a_number_or_a_reason() -> None:
    rows = measured("offload_papers.csv")[::4]
    rows = [row for row in rows if row["category"] != "bandwidth_probe"]
    records = predictions(rows)
    for record in records:
        assert_answered_or_explained(record)
    assert sum(item["tg_tps"] != "" for item in records) >= 0.9 * len(rows)


def test_measured_speeds_are_not_looked_at() -> None:
    seen = row(tg_tps="17.3", pp_tps="999", tg_tps_total="17.3", seconds_per_token="0.05")
    assert answer(seen) == answer(ROW)


def test_a_row_never_stops_the_file() -> None:
    rows = [row(id="1"), row(id="2", model="Nothing"), {}, {"id": "4"}, row(id="5", quant="☃"),
            row(id="6", gpu="Abacus"), row(id="7")]  # fmt: skip
    records = predictions(rows)
    assert [item["id"] for item in records] == ["1", "2", "", "4", "5", "6", "7"]
    assert [item["tg_tps"] != "" for item in records] == [
        True,
        False,
        False,
        False,
        True,
        False,
        True,
    ]
    for record in records:
        assert_answered_or_explained(record)


STRANGE = (
    *(
        {"model": model, "params_b": size}
        for model in ("Nope-7B", "Llama-3.1-8B", "")
        for size in ("0", "1e-300", "-1", "inf", "-inf", "nan", "1e26")
    ),
    {"category": "moe_offload", "runtime": "ds4", "model": "Qwen3-30B-A3B", "gpu": "", "ngl": ""},
    {"runtime": "vLLM", "category": "resident", "quant": f"INT4 ({10**26} GB)"},
    {"runtime": "vLLM", "category": "resident", "quant": f"INT4 ({'9' * 400} GB)"},
    {"cpu": f"Xeon, {10**26} GB", "category": "nvme"},
    {"model": "x-0x0B"},
    {"model": "Nope-0.00000000001B"},
    {"model": "Nope-7B", "params_b": "7", "date": "9999"},
    {"model": "Nope-7B", "params_b": "7", "date": "\u00b2\u00b2\u00b2\u00b2"},
)


def test_strange_rows_get_a_number_or_a_reason() -> None:
    """A warning, which fails here, would be a defect that the file is shielded from."""
    records = predictions(row(**changes) for changes in STRANGE)
    for record in records:
        assert_answered_or_explained(record)
    of_no_size = {"0", "1e-300", "-1", "inf", "-inf", "nan", "1e26"}
    for changes, record in zip(STRANGE, records, strict=True):
        if changes.get("params_b") in of_no_size:
            assert "params_b" in str(record["note"])


def test_a_defect_empties_its_row_and_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(row: PublishedRow, *known: object) -> dict[str, object]:
        if row.context_depth != 102:
            return real(row, *known)
        return {"id": [][1]}

    real = predict.answer
    monkeypatch.setattr(predict, "answer", broken)
    rows = [row(context_depth=depth) for depth in ("101", "102", "103")]
    with pytest.warns(RuntimeWarning, match="This row shows a defect.*IndexError"):
        records = predictions(rows)
    assert [record["tg_tps"] != "" for record in records] == [True, False, True]
    assert_answered_or_explained(records[1])
    assert "IndexError" in str(records[1]["note"])


def test_no_cell_that_is_written_is_a_formula(tmp_path: Path) -> None:
    bad = "=cmd|' /C calc'!A0"
    written = tmp_path / "out.csv"
    main(["predict", str(file(tmp_path / "in.csv", row(id=bad, quant=bad))), "-o", str(written)])
    with written.open(encoding="utf-8", newline="") as text:
        (record,) = csv.DictReader(text)
    assert record["id"] == f"'{bad}"
    assert float(record["tg_tps"]) > 0


def test_a_row_of_only_a_model_is_enough() -> None:
    assert_answered_or_explained(answer({"category": "cpu", "model": "Llama-3.1-8B"}))


def test_a_cell_that_is_no_number_is_named(subtests: pytest.Subtests) -> None:
    for column in [
        "params_b",
        "active_params_b",
        "n_layers",
        "model_size_gib",
        "gpu_count",
        "threads",
        "ram_channels",
        "ram_mts",
        "ram_bw_gbs",
        "pcie_gen",
        "pcie_lanes",
        "h2d_gbs",
        "disk_gbs",
        "ngl",
        "n_cpu_moe",
        "context_depth",
        "prompt_len",
        "gen_len",
        "batch",
    ]:
        for text in ["fast", "nan", "inf", "-3", "1e30", "1e999", "☃", "1,5"]:
            with subtests.test(f"{column} {text}"):
                unknown = row(model="Nobody-70B", params_b="70", active_params_b="7", n_layers="80")
                with pytest.raises(AdvisorError) as error:
                    answer({**unknown, column: text})
                assert column in str(error.value)
                assert len(str(error.value)) < 200


def test_blanks_around_a_cell_do_not_count() -> None:
    assert answer(row(gpu="  RTX 4090 ", ngl=" 40 ", model="Llama-3.1-70B ")) == answer(ROW)


@pytest.mark.parametrize("gpu", ["Nvidia 4090", "RTX 4090 24GB", "NVIDIA GeForce RTX 4090", "4090"])
def test_loose_names_mean_the_same(gpu: str) -> None:
    assert answer(row(gpu=gpu)) == answer(ROW)
    spelled = answer(row(model="meta-llama/Llama-3.1-70B-Instruct"))
    note = "meta-llama/Llama-3.1-70B-Instruct is taken as Llama-3.1-70B."
    assert spelled == {**answer(ROW), "note": note}


@pytest.mark.parametrize(
    ("stated", "count", "names", "note"),
    [
        ("RTX 3090 + RTX 3060 12GB", "2", ["RTX 3090", "RTX 3060 12GB"], ""),
        ("RTX 3090+RTX 3060 12GB", "", ["RTX 3090", "RTX 3060 12GB"], ""),
        ("RTX 4090, RTX 3090 and A6000", "3", ["RTX 4090", "RTX 3090", "RTX A6000"], ""),
        ("2x 4090 + 3090 (x8/x8/x4)", "3", ["RTX 4090", "RTX 4090", "RTX 3090"], ""),
        ("2x RTX 3090", "2", ["RTX 3090", "RTX 3090"], ""),
        ("RTX 4090 + RTX 3090", "4", ["RTX 4090", "RTX 3090"], "names 2 GPUs where gpu_count is 4"),
        ("RTX 4090 + iGPU", "1", ["RTX 4090"], ""),
        ("RTX 3090 + iGPU", "2", ["RTX 3090", "RTX 3090"], ""),
        ("RTX 3090 + Nonsense 9", "1", ["RTX 3090"], "was left out"),
        ("Radeon 8060S (Ryzen AI Max+ 395)", "1", ["Radeon 8060S (Ryzen AI Max+ 395)"], ""),
    ],
)
def test_cards_of_different_kinds_are_read_one_by_one(
    stated: str, count: str, names: list[str], note: str
) -> None:
    case = understood(row(gpu=stated, gpu_count=count))
    assert [gpu.name for gpu in case.machine.gpus] == names
    assert any(note in item for item in case.notes) if note else case.notes == ()


def test_a_second_smaller_card_takes_layers_from_the_processor() -> None:
    """40 GiB of weights: 24 GiB hold half of them, 36 GiB most, 48 GiB all."""
    open_split = row(gpu_count="", ngl="")
    cards = {
        "RTX 3090": "partial",
        "RTX 3090 + RTX 3060 12GB": "partial",
        "2x RTX 3090": "resident",
    }
    small, both, large = (
        answer({**open_split, "gpu": gpu, "category": category})["tg_tps"]
        for gpu, category in cards.items()
    )
    assert small < both < large


def test_an_unknown_card_among_others_is_refused() -> None:
    with pytest.raises(AdvisorError, match="No GPU is called"):
        answer(row(gpu="RTX 9999 + RTX 3090"))


def test_an_unknown_model_gets_a_stand_in_and_a_note() -> None:
    stated = {"params_b": "70.6", "n_layers": "80", "model_size_gib": "39.6"}
    case = understood(row(model="Nobody-70B", **stated))
    assert case.model.layers == 80
    assert case.model.file_bytes == pytest.approx(39.6 * GIB)
    (note,) = case.notes
    assert note.startswith("Nobody-70B is not known by its name: its size stands in")
    # It is about the Llama of that size, so it should be about as fast.
    known = answer(ROW)
    record = answer(row(model="Nobody-70B", **stated))
    assert record["tg_tps"] == pytest.approx(known["tg_tps"], rel=0.25)


@pytest.mark.parametrize("runtime", ["colibri", "vLLM", "FlexGen", "KTransformers"])
def test_a_processor_alone_is_read_as_llama_cpp_does(runtime: str) -> None:
    """The engine streams experts to a GPU; a row of category cpu has none."""
    mixture = {"model": "Qwen3-30B-A3B", "gpu": "", "ngl": "0"}
    assert answer(row(category="cpu", runtime=runtime, **mixture))["tg_tps"] > 0


def test_an_unknown_mixture_reads_its_active_part() -> None:
    dense = row(category="cpu", model="Nobody-100B", params_b="100")
    mixture = {**dense, "active_params_b": "10"}
    assert answer(mixture)["tg_tps"] > 3 * answer(dense)["tg_tps"]


def test_an_unknown_model_of_unknown_size_is_no_guess() -> None:
    assert "Nobody" in predictions([row(model="Nobody")])[0]["note"]
    with pytest.raises(AdvisorError, match="no model and no params_b"):
        answer(row(model=""))


def test_a_stated_size_is_used() -> None:
    assert understood(row(model_size_gib="41.2")).model.file_bytes == pytest.approx(41.2 * GIB)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Q4_K_M", "Q4_K_M"),
        ("q4_k_m (imatrix)", "Q4_K_M"),
        ("UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("IQ2_XXS", "IQ2_XXS"),
        ("MXFP4", "MXFP4"),
        ("fp16", "BF16"),
        ("INT4 group 128", "AWQ"),
        ("FP8", "FP8"),
    ],
)
def test_formats_as_people_spell_them(text: str, form: str) -> None:
    assert understood(row(model="gpt-oss-120b", quant=text)).model.format == form


def test_a_mixture_of_formats_is_placed_by_its_size() -> None:
    # 70.6e9 weights x 4.85 bits / 8 = 42.8e9 B = 39.9 GiB
    case = understood(row(quant="custom mix", model_size_gib="39.9"))
    assert case.model.format == "Q4_K_M"
    assert "taken as Q4_K_M, 4.9 bits a weight" in case.notes[0]


@pytest.mark.parametrize(
    ("stated", "prompt", "cached", "output", "depth"),
    [
        # llama-bench: the generation begins at context_depth, so its mean depth is that + N / 2
        ({"source_note": "test=tg128,pp512"}, 512, 0, 128, 64),
        ({"source_note": "x; test=tg8192,pp8192 from empty"}, 8192, 0, 8192, 4096),
        ({"context_depth": "4096", "source_note": "test=tg32,pp2048;"}, 6144, 4096, 32, 4112),
        ({"context_depth": "8192", "source_note": "test=tg64@pp8192;"}, 16384, 8192, 64, 8224),
        ({}, 512, 0, 128, 64),
        # one request: the generation follows the prompt
        ({"context_depth": "", "prompt_len": "2048", "gen_len": "100"}, 2048, 0, 100, 2098),
        ({"context_depth": ""}, 512, 0, 128, 576),
    ],
)
def test_lengths(stated, prompt, cached, output, depth) -> None:
    case = understood(row(**stated))
    assert (case.prompt.prompt, case.prompt.cached) == (prompt, cached)
    assert case.work.output == output
    assert case.work.decode_depth == depth
    assert case.work.context >= case.work.prompt + output


def test_users_share_the_total() -> None:
    record = answer(row(category="resident", model="Llama-3.1-8B", batch="8"))
    assert record["tg_tps_total"] == pytest.approx(8 * record["tg_tps"], rel=1e-5)
    assert record["e2e_tps_total"] < record["tg_tps_total"]


def test_the_end_to_end_rate_counts_the_prompt() -> None:
    record = answer(row(context_depth="", prompt_len="512", gen_len="32"))
    # n / (t_prefill + n / rate)
    by_hand = 32 / (record["ttft_s"] + 32 / record["tg_tps"])
    assert record["e2e_tps_total"] == pytest.approx(by_hand, rel=1e-4)


@pytest.mark.parametrize(
    ("stated", "layers", "moe"),
    [
        ({"ngl": "40"}, 40, None),
        ({"ngl": "", "fraction_gpu": "0.25"}, 12, None),  # a quarter of 48 layers
        ({"ngl": "999", "n_cpu_moe": "30"}, 999, 30),
        ({"ngl": "", "n_cpu_moe": ""}, None, None),
        # all experts outside where the category says so and nothing else does
        ({"ngl": "999", "category": "moe_offload"}, 999, 48),
        ({"ngl": "", "category": "moe_offload"}, None, 48),
    ],
)
def test_a_given_split_is_used_as_given(stated, layers, moe) -> None:
    case = understood(row(model="Qwen3-30B-A3B", **stated))
    assert (case.settings.gpu_layers, case.settings.cpu_moe) == (layers, moe)


def test_more_layers_on_the_gpu_are_faster() -> None:
    speeds = [answer(row(ngl=str(layers)))["tg_tps"] for layers in (0, 20, 40)]
    assert speeds == sorted(speeds)


def test_given_rates_are_used_as_given() -> None:
    case = understood(row(ram_bw_gbs="51", h2d_gbs="21", disk_gbs="3.1", threads="6"))
    machine = case.machine
    assert machine.disk is not None
    rates = (machine.host.bandwidth, machine.gpus[0].link.pinned, machine.disk.sequential)
    assert [rate.value for rate in rates] == [51 * GB, 21 * GB, 3.1 * GB]
    assert machine.host.cores == 6


def test_unknown_properties_of_a_processor_get_typical_values() -> None:
    assert "Desktop DDR5" in str(answer(row(cpu="Abacus 3"))["note"])
    assert "Server 8-channel DDR4" in str(answer(row(cpu="56-core DDR4 EPYC"))["note"])
    assert "Server 12-channel DDR5" in str(answer(row(cpu="EPYC 9999"))["note"])
    # its memory channels are not published
    assert "not published" in str(answer(row(category="cpu", cpu="Azure Cobalt 100"))["note"])


@pytest.mark.parametrize(
    ("category", "strategy"),
    [
        ("resident", PlacementStrategy.GPU_RESIDENT),
        ("batched", PlacementStrategy.GPU_RESIDENT),
        ("cpu", PlacementStrategy.CPU_OFFLOAD),
        ("moe_offload", PlacementStrategy.CPU_OFFLOAD),
        ("stream_cpu", PlacementStrategy.CPU_OFFLOAD),
        ("nvme", PlacementStrategy.NVME_OFFLOAD),
    ],
)
def test_the_category_says_where_the_rest_lies(category: str, strategy: PlacementStrategy) -> None:
    large_enough = {"gpu": "2x RTX A6000"}
    assert understood(row(category=category, ngl="", **large_enough)).strategy is strategy


@pytest.mark.parametrize("category", ["bandwidth_probe", "training"])
def test_training_runs_have_no_prediction(category: str) -> None:
    (record,) = predictions(iter([row(category=category)]))
    assert record["note"] == f"category {category!r} is no inference run; nothing to predict."


@pytest.mark.parametrize(
    ("runtime", "category", "name"),
    [
        ("ik_llama.cpp -rtr 1", "partial", "ik_llama.cpp"),
        ("ollama", "partial", "llama.cpp"),
        ("HF Accelerate device_map", "stream_cpu", "Accelerate"),
        ("KTransformers v0.2.1 dual socket", "moe_offload", "KTransformers"),
        ("KTransformers + SGLang", "moe_offload", "KTransformers"),
        ("KTransformers + SGLang", "resident", "SGLang"),
        ("vLLM --cpu-offload-gb 47", "stream_cpu", "vLLM"),
        ("FlexGen 0.1.7", "stream_cpu", "FlexGen"),
        ("colibri (expert streaming)", "nvme", "expert streaming"),
        ("DeepSpeed ZeRO-Inference", "nvme", "DeepSpeed ZeRO-Inference"),
        ("TensorRT-LLM 1.0 (max load)", "batched", "TensorRT-LLM"),
        ("ExLlama", "resident", "ExLlama"),
        ("", "stream_cpu", "vLLM"),
    ],
)
def test_a_runtime_is_read_as_the_nearest_that_is_modelled(runtime, category, name) -> None:
    assert understood(row(runtime=runtime, category=category)).runtime.name == name


def test_experts_beside_no_gpu_are_read_as_llama_cpp_does() -> None:
    assert understood(
        row(runtime="KTransformers", category="moe_offload", gpu="")
    ).runtime.name == ("llama.cpp")


def test_cores_compute_where_a_row_says_that_there_is_no_gpu() -> None:
    case = understood(row(category="resident", gpu="none", runtime="ggml CPU", ngl="0"))
    assert (case.runtime.name, case.strategy) == ("llama.cpp", PlacementStrategy.CPU_OFFLOAD)
    other = answer(row(category="resident", gpu="none", runtime="vLLM", ngl="0"))
    assert "vLLM is modelled on GPUs: read as llama.cpp does" in str(other["note"])


def test_dash_o_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = file(tmp_path / "rows.csv", row(id="1"), row(id="2", model="Nothing"))
    out = tmp_path / "out.csv"
    assert main(["predict", str(rows), "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    with out.open(encoding="utf-8", newline="") as written:
        items = list(csv.DictReader(written))
    assert [item["id"] for item in items] == ["1", "2"]
    assert float(items[0]["tg_tps"]) == answer(ROW)["tg_tps"]
    assert "Nothing" in items[1]["note"]


def test_without_it_they_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = file(tmp_path / "rows.csv", row(), row())
    for _ in range(2):  # standard output stays open
        assert main(["predict", str(rows)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == ",".join(COLUMNS)
        assert len(lines) == 3


def test_ragged_lines_and_a_byte_order_mark(tmp_path: Path, capsys) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "\ufeffid,category,model,gpu\n1,cpu,Llama-3.1-8B\n2,cpu,Llama-3.1-8B,none,more,still\n",
        encoding="utf-8",
    )
    assert main(["predict", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["id", "1", "2"]


def test_the_catalogue_is_asked_once_for_all_rows() -> None:
    assert catalog.model("Llama-3.1-70B", "Q4_K_M") is understood(ROW).model


def test_a_row_is_placed_anew_only_where_prompt_and_generation_were_two_requests() -> None:
    together = understood(row(prompt_len="512"))
    assert together.of_prompt is together
    apart = understood(row(context_depth="4096", source_note="test=tg32,pp512"))
    assert apart.of_prompt.work == apart.prompt != apart.work
    assert apart.of_prompt.placement is not apart.placement
    assert apart.of_prompt is apart.of_prompt


def test_an_answer_is_kept_by_the_cells_that_it_reads_and_by_no_others() -> None:
    once, again = predictions([row(id="a"), row(id="b", tg_tps="5", publisher="somebody")])
    assert {**once, "id": "b"} == again
    for change in ({"context_depth": "30000"}, {"gpu": "RTX 3090"}, {"date": "2024-03-01"}):
        (other,) = predictions([row(**change)])
        assert other["tg_tps"] != once["tg_tps"], change


@pytest.mark.parametrize("words", ["-sm tensor", "--split-mode tensor", "split mode: tensor"])
@pytest.mark.parametrize("column", ["runtime", "source_note"])
def test_a_row_that_divides_each_layer_is_predicted_so(words: str, column: str) -> None:
    cards = {"category": "resident", "gpu_count": "2", "gpu": "RTX 3090", "ngl": "999"}
    plain, divided = predictions(
        [row(**cards), row(**cards, **{column: f"llama.cpp CUDA {words}"})]  # type: ignore[arg-type]
    )
    assert float(str(divided["tg_tps"])) > 1.2 * float(str(plain["tg_tps"]))


@pytest.mark.parametrize("runtime", ["Transformers 5.1, fp32", "Accelerate", "DeepSpeed"])
def test_programs_of_gpus_are_not_read_as_llama_cpp_on_a_processor(runtime: str) -> None:
    (record,) = predictions([row(category="cpu", runtime=runtime, gpu="", ngl="")])
    assert record["tg_tps"] == ""
    assert "modelled on GPUs only" in str(record["note"])
