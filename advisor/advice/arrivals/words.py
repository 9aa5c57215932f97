"""Load of a server in sentences."""

from collections.abc import Iterable

from advisor.advice.arrivals.load import ServerLoad
from advisor.formatting import number, seconds, tokens_per_second

NO_QUEUE = (
    "The model fits in the GPUs here in no runtime that queues requests (vLLM, SGLang, "
    "TensorRT-LLM)."
)


def curve_lines(load: ServerLoad) -> Iterable[str]:
    """Waiting times by number of users as a table, with the limits marked."""
    yield f"{'users':>6}  {'first token':>12}  {'one in twenty':>14}  {'tokens/s each':>14}"
    for point in load.curve:
        missed = "" if point.meets(load.request) else "  beyond the limits"
        speed = number(1.0 / point.token_p50) if point.token_p50 else ""
        yield (
            f"{point.users:>6.0f}  {seconds(point.first_p50):>12}  {seconds(point.first_p95):>14}  "
            f"{speed:>14}{missed}"
        )


def sentences(load: ServerLoad | None) -> Iterable[str]:
    """Sentences on users served in time, saturation, and waiting times at the stated rate."""
    if load is None:
        yield NO_QUEUE
        return
    request, users = load.request, load.users_supported
    yield (
        f"{load.estimate.runtime} serves {users} {'user' if users == 1 else 'users'} at once with "
        f"{tokens_per_second(request.user_tps)} each and the first token within "
        f"{seconds(request.first_token_within)}; it saturates at "
        f"{number(load.full_per_hour)} requests an hour."
    )
    per_hour, waiting = request.requests_per_hour, load.waiting
    if per_hour is None:
        return
    if waiting is None:
        yield f"It cannot answer {number(per_hour)} requests an hour: the queue keeps growing."
        return
    yield (
        f"At {number(per_hour)} requests an hour the first token comes after "
        f"{seconds(waiting.first_p50)} ({seconds(waiting.first_p95)} for one request in twenty), "
        f"then {tokens_per_second(1.0 / waiting.token_p50)}."
    )
