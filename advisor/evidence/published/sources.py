"""Publisher of a published row; rows of one publisher on one machine share their error."""

import re

from advisor.evidence.published.row import PublishedRow

THREAD = re.compile(
    r"https?://(?:www\.)?github\.com/([^/]+/[^/]+)/(?:issues|pull|discussions)/(\d+)"
)
REPOSITORY = re.compile(r"https?://(?:www\.)?github\.com/([^/]+/[^/#?]+)")


def source_of(url: str) -> str:
    """Publisher of a measurement: a thread on GitHub, a repository, or else the page."""
    thread = THREAD.match(url)
    if thread:
        return f"{thread[1]}#{thread[2]}"
    repository = REPOSITORY.match(url)
    return repository[1] if repository else re.sub(r"^https?://(?:www\.)?", "", url)


def publisher_of(row: PublishedRow) -> str:
    """Person, repository or site that published a row: the stated one, else its source."""
    return row.publisher or source_of(row.source_url)


def hardware_of(row: PublishedRow) -> str:
    """GPU and processor of a row; the GPU alone for GPU-resident runs."""
    gpu = "" if row.category == "cpu" else row.gpu
    cpu = "" if row.category == "resident" else row.cpu
    return " and ".join(filter(None, (gpu, cpu)))


def group_of(row: PublishedRow) -> str:
    """Publisher and hardware of a published row."""
    return f"{publisher_of(row)} on {hardware_of(row)}"
