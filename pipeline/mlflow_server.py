"""MLflow's server where it does not answer: how long it is waited for, and what is said then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from quartet.errors import InputError

#: How often MLflow asks a server that does not answer: by itself for four minutes, so that it may be started anew.
TRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
#: What MLflow says when it gives up.
NO_ANSWER = "API request to"


@contextmanager
def few_tries() -> Iterator[None]:
    """Within it MLflow gives up on a server in seconds, unless the environment says how often it is asked."""
    given = os.environ.get(TRIES)
    os.environ[TRIES] = given or "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[TRIES]


def unanswered(error: Exception, place: str) -> InputError | None:
    """A server that does not answer as a user's error; None for any other error."""
    if NO_ANSWER not in str(error):
        return None
    return InputError(
        place,
        "does not answer",
        "see whether it runs, check or unset MLFLOW_TRACKING_URI, and run the same command again",
    )
