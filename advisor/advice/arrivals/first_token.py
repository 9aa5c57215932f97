"""Time to the first token when several users ask at the same time.

Users whose cache fits are served together: their prompts are read one after another, then all get
tokens. The others wait until a reply is complete and take its place.
"""

import numpy as np

from advisor.cost_model.estimate import Estimate
from advisor.model.model import Floats


def first_token_times(estimate: Estimate) -> Floats:
    """Time to the first token of each user, in the order of service, shape (users,) [s].

    t_i = floor(i / R) t_reply + (i mod R + 1) / R t_prompts

    R users run together, t_prompts reads the prompts of all of them, t_reply is a whole reply.
    """
    if estimate.first_token is None:
        return np.array([np.nan])
    running = max(round(float(estimate.work.users)), 1)
    users = running + round(float(estimate.waiting))
    order = np.arange(users)
    prompts = float(estimate.first_token.value)
    turns = order // running * float(estimate.reply)
    return np.asarray(turns + (order % running + 1) / running * prompts, dtype=float)


def first_token_within(estimate: Estimate, share: float) -> float:
    """Time within which a share of the users have their first token [s].

    Args:
        estimate: estimate that fits.
        share: share of the users, 0 to 1.
    """
    return float(np.quantile(first_token_times(estimate), share, method="inverted_cdf"))
