"""What to buy within a budget: nothing that reads the model from the drive."""

from advisor.advice.advise import answer, buys_of
from advisor.advice.table.choice import BOUGHT, reads_drive, sensible
from advisor.request.request import Request

MACHINE = "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4"


def test_what_reads_the_drive_is_no_purchase_to_name() -> None:
    # 119 GB of weights: neither a card of 24 GB nor 32 GB of RAM holds them
    answered = answer(Request(model="Qwen3.8-Flash-Next", machine=MACHINE).nouns())
    named = [option for _, option in buys_of(answered).named]
    assert named
    assert not any(map(reads_drive, named))
    assert any(map(reads_drive, answered.advice.options))


def test_a_purchase_that_the_sale_of_ones_own_card_pays_for_has_no_half_price() -> None:
    # a used RTX 4090 fetches more than four used RTX 3080 Ti cost: no other is sought for ever
    request = Request(
        model="Llama-3.1-70B",
        gpu="RTX 4090",
        cpu="Server 8-channel DDR4-3200 (typical)",
        ram_gb=256.0,
        placement="cpu-offload",
        gpu_layers=40,
    )
    options = answer(request.nouns()).advice.options
    paid_for = [option for option in options if option.kind in BOUGHT and option.upfront <= 0]
    assert paid_for
    assert sensible(paid_for) in paid_for
