"""What to buy within a budget: nothing that reads the model from the drive."""

from advisor.advice.advise import answer, buys_of
from advisor.advice.table.choice import reads_drive
from advisor.request.request import Request

MACHINE = "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4"


def test_what_reads_the_drive_is_no_purchase_to_name() -> None:
    # 119 GB of weights: neither a card of 24 GB nor 32 GB of RAM holds them
    answered = answer(Request(model="Qwen3.8-Flash-Next", machine=MACHINE).nouns())
    named = [option for _, option in buys_of(answered).named]
    assert named
    assert not any(map(reads_drive, named))
    assert any(map(reads_drive, answered.advice.options))
