"""Cached part of a prompt, in tokens or as a share."""

import pytest

from advisor.errors import InputError
from advisor.request.session import cached_tokens


def test_tokens_share_or_nothing() -> None:
    assert cached_tokens(4000, None, None) == 0
    assert cached_tokens(4000, 3500, None) == 3500
    assert cached_tokens(4000, None, 0.9) == 3600
    assert cached_tokens(4000, 0, 1.0) == 4000


def test_both_are_refused_and_so_is_a_share_above_one() -> None:
    with pytest.raises(InputError, match=r"stated twice, as 30 tokens and as a share of 0\.9"):
        cached_tokens(4000, 30, 0.9)
    with pytest.raises(InputError, match=r"--cached-share.* is 90; allowed is 0 to 1"):
        cached_tokens(4000, None, 90)
