"""The Hub that stands in for the real one answers as the real one's own client reads it.

Nothing here reaches a network: huggingface_hub is the client that its makers keep in step with the
real Hub, so what it reads of the stand-in has the real form.
"""

from collections.abc import Iterator

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from stand_in_hub import COMMIT, StandIn, running
from twenty_configs import hub_of, unseen

from advisor.model import hub
from advisor.refresh import models

SERVED = tuple(model for model in unseen() if model.served)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    for name in ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with running(hub_of(unseen())) as held:
        monkeypatch.setenv("HF_ENDPOINT", held.url)
        yield held


def test_lists_and_their_pages_are_those_of_the_hubs_client(server: StandIn) -> None:
    client = HfApi(endpoint=server.url)
    told = list(client.list_models(pipeline_tag="text-generation", sort="downloads", limit=7))
    own = models.listing("text-generation", "downloads", 7)
    assert [entry.name for entry in own] == [model.id for model in told]
    assert [entry.downloads for entry in own] == [model.downloads for model in told]
    days = {model.created_at.date().isoformat() for model in told if model.created_at}
    assert {entry.created for entry in own} == days
    # the client asks for as much by the same words
    words = [path.split("?")[1].split("&") for path in server.requested]
    assert set(words[0]) <= set(words[1])


def test_pages_are_joined_by_their_links(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stand_in_hub.MOST_OF_A_PAGE", 3)
    client = HfApi(endpoint=server.url)
    told = list(client.list_models(pipeline_tag="text-generation", sort="downloads", limit=8))
    assert [model.id for model in told] == server.names()[:8]


@pytest.mark.parametrize("order", models.LISTED)
def test_orders_are_those_that_the_hubs_client_knows(server: StandIn, order: str) -> None:
    client = HfApi(endpoint=server.url)
    list(client.list_models(pipeline_tag="text-generation", sort=order, limit=1))
    assert f"sort={order}" in server.requested[-1].split("?")[1].split("&")


@pytest.mark.parametrize("model", SERVED, ids=lambda model: model.name)
def test_repositories_and_headers_of_weights_are_read_alike(server: StandIn, model) -> None:
    client = HfApi(endpoint=server.url)
    told = client.model_info(model.name, files_metadata=True)
    own = hub.repository(model.name)
    assert own.commit == told.sha == COMMIT
    assert dict(own.files) == {each.rfilename: each.size for each in told.siblings or ()}
    assert told.safetensors is None or dict(own.parameters) == told.safetensors.parameters
    # weights lie behind a redirect, with the header that the client reads of them
    whole = client.get_safetensors_metadata(model.name)
    listed = {
        name: tuple(shape.shape)
        for file in whole.files_metadata.values()
        for name, shape in file.tensors.items()
    }
    assert listed == {each.name: each.shape for each in hub.stored_tensors(own)}


def test_a_repository_that_is_missing_is_missing_for_both(server: StandIn) -> None:
    with pytest.raises(RepositoryNotFoundError):
        HfApi(endpoint=server.url).model_info("nobody/nothing")
    with pytest.raises(hub.UnknownName, match="nobody/nothing"):
        hub.repository("nobody/nothing")
