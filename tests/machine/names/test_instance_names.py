"""Rented machines without a GPU, by their family and size."""

import pytest
from hardware_names import sample

from advisor.errors import UnknownName
from advisor.machine.catalog import GPUS, HOSTS, MACHINES
from advisor.machine.names.preset_names import families

KARPENTER = (
    # name, virtual processors, memory [MiB]: Amazon's own description of its instances, read from
    # github.com/aws/karpenter-provider-aws, instance-types.md, 2026-08-21
    ("c5.18xlarge", 72, 147456),
    ("m5a.24xlarge", 96, 393216),
    ("c6i.metal", 128, 262144),
    ("r6a.8xlarge", 32, 262144),
    ("c7g.metal", 64, 131072),
    ("m7i.metal-24xl", 96, 393216),
    ("r7a.48xlarge", 192, 1572864),
    ("x8g.16xlarge", 64, 1048576),
)


@pytest.mark.parametrize(("name", "vcpu", "mib"), KARPENTER)
def test_a_size_has_the_memory_that_its_provider_describes(name: str, vcpu: int, mib: int) -> None:
    machine = MACHINES.named(name)
    assert machine.spec.ram_gb == mib / 1024
    assert f"{vcpu} virtual processors" in machine.notes[0]


def test_virtual_processors_are_hyper_threads_or_cores() -> None:
    """Graviton and AMD's 7th generation at Amazon have no hyper-threads; Intel's have two."""
    assert MACHINES.named("c7g.16xlarge").spec.cores == 64
    assert MACHINES.named("m7a.16xlarge").spec.cores == 64
    assert MACHINES.named("m7i.16xlarge").spec.cores == 32
    assert MACHINES.named("Standard_D32as_v5").spec.cores == 16
    assert MACHINES.named("t2a-standard-48").spec.cores == 48


def test_a_part_of_a_host_has_its_share_of_the_memory_channels() -> None:
    """16 of the 64 cores of an EPYC 7763 with eight channels, and never fewer than two."""
    assert MACHINES.named("Standard_D32as_v5").spec.ram_channels == 2
    assert MACHINES.named("r7i.metal-48xl").spec.ram_channels == 16
    assert MACHINES.named("c6i.large").spec.ram_channels == 2


def test_every_family_has_a_known_processor() -> None:
    for family in families():
        assert HOSTS.named(family.cpu).row.memory_channels


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("Standard_NV6ads_A10_v5", "part of one A10"),
        ("g6f.xlarge", "part of one L4"),
        ("trn1.32xlarge", "Trainium"),
        ("c4a-standard-16", "Axion"),
        ("1/6 A10", "part of a card"),
    ],
)
def test_what_no_page_describes_is_refused_with_the_reason(typed: str, why: str) -> None:
    with pytest.raises(UnknownName, match=why):
        MACHINES.named(typed)


def test_non_multithreaded_instances_of_azure_have_as_many_cores_as_processors() -> None:
    """NC A100 v4 and NCasT4_v3: "non-multithreaded" cores, says Azure's documentation."""
    assert MACHINES.named("Standard_NC24ads_A100_v4").spec.cores == 24
    assert MACHINES.named("Standard_NC16as_T4_v3").spec.cores == 16
    assert MACHINES.named("Standard_NC40ads_H100_v5").spec.cores == 40


RENTED = sample("rented_machines.csv")


def test_a_rented_machine_has_the_cards_that_lists_of_others_give_it() -> None:
    """Catalogues of SkyPilot, a fork of it and gpuhunt, the source of each row, say which cards a
    name means; main memory is theirs too where our answer has it.
    """
    for case in RENTED:
        if not case["gpu"]:
            with pytest.raises(UnknownName, match="part of one card"):
                MACHINES.named(case["typed"])
            continue
        spec = MACHINES.named(case["typed"]).spec
        card = GPUS.named(str(spec.gpu))
        assert card.row.name.startswith(case["gpu"]), case
        assert spec.gpu_count == int(case["count"]), case
        assert card.row.memory_gib == pytest.approx(float(case["card_gib"]), rel=0.05), case
        if spec.ram_gb is not None and case["ram_gib"]:
            assert spec.ram_gb == pytest.approx(float(case["ram_gib"]), rel=0.06), case


@pytest.mark.parametrize(
    ("typed", "cores", "ram_gib"),
    [
        ("gpu-l40s-a_1gpu-40vcpu-160gb", 20, 160),
        ("2x_RTXPRO6000_56V_320G", 28, 320),
        ("gx3-24x120x1l40s", 12, 120),
        ("epyc-genoa-l40s-graphics_8x64v128gb", 32, 128),
    ],
)
def test_processors_and_memory_in_a_name_are_the_machines(
    typed: str, cores: int, ram_gib: float
) -> None:
    """Two virtual processors are a core."""
    spec = MACHINES.named(typed).spec
    assert (spec.cores, spec.ram_gb) == (cores, ram_gib)


def test_memory_that_a_card_is_sold_with_is_said_as_assumed() -> None:
    note = "A100 SXM is sold with 40 or 80 GB: 80 GB is assumed."
    assert note in MACHINES.named("crusoe 2x a100 96 vcpu").notes
    assert note not in MACHINES.named("2x A100 80GB EPYC 7763").notes


@pytest.mark.parametrize(
    ("name", "host", "cores", "ram_gib"),
    [
        ("m8a.24xlarge", "EPYC 9R45", 96, 384),
        ("c8a.48xlarge", "2x EPYC 9R45", 192, 384),
        ("r8a.xlarge", "EPYC 9R45", 4, 32),
        ("c8i.32xlarge", "Xeon 6972P", 64, 256),
        ("c8gn.48xlarge", "2x Graviton4", 192, 384),
    ],
)
def test_amazons_eighth_generation(name: str, host: str, cores: int, ram_gib: float) -> None:
    """Four virtual processors to an xlarge; c has 2, m 4 and r 8 GiB of each; AMD's and Graviton's
    are cores, Intel's hyper-threads.
    """
    spec = MACHINES.named(name).spec
    assert (spec.cpu, spec.cores, spec.ram_gb) == (host, cores, ram_gib)
