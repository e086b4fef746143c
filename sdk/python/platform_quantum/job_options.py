"""What a job is started with besides what it runs: the same by every entrance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .arguments import read_header, read_tags
from .errors import InvalidProblemError
from .estimate import write_amount

JOB_OPTIONS = ("name", "tags", "session", "max_cost", "cache", "idempotency_key")
"""Options that are for the platform; all others are for the backend."""
SETTABLE_OPTIONS = ("seed", *(name for name in JOB_OPTIONS if name != "idempotency_key"))
"""Those that may hold for all jobs: a key is of one."""
_ALIASES = {"session_id": "session"}


@dataclass(frozen=True)
class JobOptions:
    """Those of a job."""

    body: dict[str, Any]
    """Members of the request that starts it."""
    idempotency_key: str | None


def take_job_options(options: dict[str, Any], dry_run: bool = False) -> JobOptions:
    """Takes them out of the options, so that those for the backend are left.

    :raises InvalidProblemError: a dry run is asked for where a result is expected, or an option
        cannot be sent
    """
    refuse_dry_run(options)
    for name, alias in _ALIASES.items():
        given = options.pop(name, None)
        if given is not None:
            options[alias] = given
    own = {name: options.pop(name, None) for name in JOB_OPTIONS}
    body = {
        "name": own["name"],
        "tags": read_tags(own["tags"]),
        "session_id": getattr(own["session"], "id", own["session"]),
        "max_cost": None if own["max_cost"] is None else write_amount(own["max_cost"]),
        "cache": own["cache"] or None,
        "dry_run": dry_run or None,
    }
    sent = {name: value for name, value in body.items() if value is not None}
    return JobOptions(sent, read_header("idempotency_key", own["idempotency_key"]))


def refuse_dry_run(options: dict[str, Any]) -> None:
    """Takes `dry_run` out of the options.

    :raises InvalidProblemError: it is asked for
    """
    if options.pop("dry_run", None):
        raise InvalidProblemError(
            "A dry run has no result: estimate() says what a job would cost, and runs nothing."
        )
