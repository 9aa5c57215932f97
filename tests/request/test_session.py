"""Session of an agent: its requests, worked by hand; what is stated in part; the shapes."""

import numpy as np
import pytest

from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError
from advisor.request import command_line, texts
from advisor.request.request import Request
from advisor.request.session import AgentSession, shapes

SMALL = AgentSession(turns=3, first=1000, added=200, reply=50)


def test_the_turns_of_a_session_worked_by_hand() -> None:
    # 1000; 1000 + 200 + 50; once more. What was there before: all but the 200 that were added.
    assert SMALL.prompts.tolist() == [1000, 1250, 1500]
    assert SMALL.before.tolist() == [0, 1050, 1300]
    # 1500 + 50 = 1550, in pages of 256: 7 of them, 1792.
    assert SMALL.context == 1792
    work = SMALL.work(Workload(context=512), np.array([0.0, 1050.0, 1300.0]))
    assert np.asarray(work.fresh).tolist() == [1000, 200, 200]
    assert (work.output, work.context) == (50, 1792)


def test_a_single_reply_that_stands_for_a_session_is_its_middle_turn() -> None:
    work = SMALL.middle(Workload())
    assert (work.prompt, work.cached, work.output) == (1250, 1050, 50)
    assert work.context == 8192, "a longer context that is stated stays"
    half = AgentSession(turns=3, first=1000, added=200, reply=50, kept=0.5, agents=4, slots=2)
    assert half.middle(Workload()).cached == 525
    assert half.middle(Workload()).users == 2


def test_what_is_stated_goes_before_the_shape() -> None:
    shape = shapes()["swe-bench"]
    taken = Request(model="m", session="swe-bench").nouns().session
    assert taken is not None
    assert (taken.turns, taken.first, taken.added, taken.reply) == (
        shape.turns,
        shape.first_prompt,
        shape.turn_tokens,
        shape.reply,
    )
    stated = Request(model="m", session="swe-bench", turns=7, prompt=900, users=2).nouns().session
    assert stated is not None
    assert (stated.turns, stated.first, stated.added) == (7, 900, shape.turn_tokens)
    assert stated.agents == 2


def test_without_a_shape_the_request_gives_prompt_and_reply() -> None:
    request = Request(model="m", turns=5, turn_tokens=300, prompt=4000, output=100)
    session = request.nouns().session
    assert session is not None
    assert (session.first, session.reply, session.shape) == (4000, 100, None)
    assert request.nouns().work.prompt == 4000 + 2 * 400
    assert Request(model="m").nouns().session is None


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"turns": 5}, "--turn-tokens"),
        ({"turn_tokens": 100}, "belongs to a session"),
        ({"slots": 2}, "--slots belongs to a session"),
        ({"spare_drive_gb": 2.0}, "--spare-drive-gb belongs to a session"),
        ({"session": "chess"}, "swe-bench"),
        ({"turns": 9000, "turn_tokens": 900_000}, "conversation of a session grows"),
        ({"session": "swe-bench", "cached": 400, "prompt": 300}, "more than the first prompt"),
    ],
)
def test_a_session_that_cannot_be_is_refused_with_what_to_do(
    stated: dict[str, object], words: str
) -> None:
    with pytest.raises(AdvisorError, match=words):
        _ = Request(model="m", **stated).nouns().session  # type: ignore[arg-type]


def test_lengths_along_a_sweep_are_refused() -> None:
    with pytest.raises(InputError, match="one length"):
        _ = Request(model="m", session="swe-bench", output=np.array([1.0, 2.0])).nouns().session


def test_a_session_goes_through_every_door() -> None:
    request = Request(model="m", session="pinchbench", turns=30, turn_tokens=800, slots=2, users=3)
    assert command_line.from_argv(command_line.to_argv(request)) == request
    assert texts.from_texts(texts.to_texts(request)) == request
    assert texts.from_address({"model": "m", "session": "PinchBench"}).request.session == (
        "pinchbench"
    )


def test_every_shape_has_its_source_and_date() -> None:
    for shape in shapes().values():
        assert shape.source.startswith("https://"), shape.name
        assert len(shape.source_date) >= len("2026-10"), shape.name
        assert shape.turns > 1 < min(shape.first_prompt, shape.turn_tokens, shape.reply)


def test_of_a_first_turn_what_is_cached_already_is_cached() -> None:
    # the middle of two turns is the first: no earlier turn of which a share could be kept
    for turns in (1, 2):
        session = AgentSession(turns=turns, first=1000, added=200, reply=50, cached=400, kept=0.5)
        assert (session.middle(Workload()).prompt, session.middle(Workload()).cached) == (1000, 400)
    four = AgentSession(turns=4, first=1000, added=200, reply=50, cached=400, kept=0.5)
    # the second of four: 1250, of which half of 1050 is kept
    assert (four.middle(Workload()).prompt, four.middle(Workload()).cached) == (1250, 525)
    whole = AgentSession(turns=4, first=1000, added=200, reply=50)
    assert whole.middle(Workload()).cached == 1050


def test_a_share_of_a_session_is_of_what_went_before() -> None:
    # without a session a quarter of the prompt itself is cached
    assert Request(model="m", prompt=1000, cached_share=0.25).nouns().work.cached == 250
    request = Request(model="m", turns=3, turn_tokens=200, prompt=1000, output=50, cached_share=0.5)
    assert request.nouns().work.cached == 525
    with pytest.raises(InputError, match="both"):
        _ = Request(model="m", prompt=1000, cached=10, cached_share=0.25).nouns().work


def test_the_turns_of_a_benchmark_add_up_to_its_published_tokens() -> None:
    """616 runs of SWE-bench Pro: 2,802,336 tokens of prompts and 17,705 of replies in the mean."""
    shape = Request(model="m", session="swe-bench-pro").nouns().session
    assert shape is not None
    added = shape.added + shape.reply
    prompts = shape.turns * shape.first + shape.turns * (shape.turns - 1) / 2 * added
    assert prompts == pytest.approx(2_802_336, rel=0.001)
    assert shape.turns * shape.reply == pytest.approx(17_705, rel=0.001)


def test_a_stated_context_shortens_the_conversation_worked_by_hand() -> None:
    """Prompts of 1000, 1250 and 1500, and a reply of 50: 1,600 tokens hold three turns."""
    long = AgentSession(turns=8, first=1000, added=200, reply=50, limit=1600)
    # (1600 - 1000 - 50) // 250 + 1 = 3
    assert long.turns_held == 3
    assert long.shortened == 2
    assert long.prompts.tolist() == [1000, 1250, 1500, 1000, 1250, 1500, 1000, 1250]
    assert long.before.tolist() == [0, 1050, 1300, 0, 1050, 1300, 0, 1050]
    assert long.middle(Workload(context=1600)).prompt == 1250
    assert long.middle(Workload(context=1600)).context == 1600


def test_a_session_is_held_in_a_shorter_context_only_where_that_is_stated() -> None:
    whole = Request(model="m", session="coding-session").nouns().session
    assert whole is not None
    assert whole.limit is None
    held = Request(model="m", session="coding-session", context=32768).nouns()
    assert held.session is not None
    assert held.session.limit == 32768
    assert held.work.context == 32768
    assert float(np.max(held.session.prompts)) + held.session.reply <= 32768
    # a context that does not hold the first two turns grows, as it did
    tiny = Request(model="m", session="coding-session", context=16384).nouns().session
    assert tiny is not None
    assert tiny.limit is None


def test_a_conversation_that_is_too_long_names_what_makes_it_so() -> None:
    """10,000 turns of 2,000 tokens and more are 20 million and more; the sentence named a context
    that nobody had stated.
    """
    with pytest.raises(InputError, match="--turns, --turn-tokens or --output") as refused:
        AgentSession(turns=10_000, first=512.0, added=2_000.0, reply=1.0)
    assert "--context" not in str(refused.value)
