"""A backend whose jobs run at a vendor: `run, describe = external(submit, poll, ...)`.

The project says `"external": true` in platform.json. What is bought is kept: the id of the vendor's
job is stored by the platform before anything else happens, so that an execution whose worker is
lost goes on waiting for it, and never submits a second one.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack

from .failures import (
    BACKEND_OFFLINE,
    CIRCUIT_INVALID,
    VENDOR_ERROR,
    BackendFailure,
    describe_error,
)
from .held_run import Cancelled, cancellable, get_handle, keep_handle, was_lost
from .interpreter import CIRCUITS, call_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .gate import Describe, Run

    Profile = Mapping[str, Any] | Callable[[], Mapping[str, Any]]

_MISSES = 3
"""So often the vendor says that it knows no job before that is believed."""
_SUBMIT_PATIENCE = 10.0
"""Seconds for which a vendor is asked for a job whose submission has failed."""
_CANCEL_PAUSES = (0.0, 1.0, 2.0)
_GROWTH = 1.5
_MAX_ID = 1000
"""Characters of a vendor's id. As JSON it stays below the limit of a handle."""
_MAX_STATE = 200
"""Characters of a state that the log shows."""


@dataclass(frozen=True)
class VendorJob:
    """What is to be submitted, as one job of the vendor."""

    circuits: Sequence[dict[str, Any]]
    """Each with `name`, `shots`, `qubits`, `bits` and `operations`, see `circuits.py`."""
    tag: str
    """The id of the execution: by it `find` must find the job again."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of the backend's own that the caller has given."""


class ExternalSettings(TypedDict, total=False):
    """What an adapter says besides; times in seconds."""

    profile: Required[Profile]
    """That of `gate_backend`, or a function that asks the vendor for it."""
    description: Callable[[], dict[str, Any]]
    """What `describe` returns; default: the decoder makes it of the profile."""
    decoder: str
    """The module that decodes the circuits; default: by Qiskit."""
    interval: tuple[float, float]
    """The first and the longest pause between two questions; default: 1 and 30."""
    patience: float
    """For how long the vendor may be away; default: 900."""


class _Lost(Exception):
    code = "WORKER_LOST"
    detail = (
        "The worker was lost while the job may have been submitted, and the vendor tells of none"
        " with the id of this execution. The outcome is unknown."
    )


_UNTOLD = (
    "An attempt before may have submitted the job, and the vendor does not tell its jobs: nothing"
    " is submitted again."
)


@dataclass(frozen=True)
class _Adapter:
    submit: Callable[[VendorJob], str]
    poll: Callable[[str], Any]
    cancel: Callable[[str], None]
    find: Callable[[str], str | None] | None
    profile: Profile
    decoder: str
    interval: tuple[float, float]
    patience: float

    def read_profile(self) -> dict[str, Any]:
        return dict(self.profile() if callable(self.profile) else self.profile)

    def run(self, data: dict[str, Any], params: dict[str, Any]) -> Any:
        handle = get_handle()
        if handle is not None:
            job = json.loads(handle)["id"]
            print(f"Going on with job {job} of the vendor.", flush=True)
            return self.wait(job, data, params)
        tag = os.environ.get("SERVICE_EXECUTION_ID", "")
        found = self.look_again(tag) if _is_later() else None
        if found is not None:
            print(f"Job {found} of the vendor has been submitted by an attempt before.", flush=True)
            self.keep(found)
            return self.wait(found, data, params)
        job_or_answer = self.prepare(data, params, tag)
        if not isinstance(job_or_answer, VendorJob):
            return job_or_answer
        with cancellable():  # what was cancelled meanwhile is not submitted
            pass
        job = self.send(job_or_answer)
        self.keep(job)
        print(f"Submitted as job {job} of the vendor.", flush=True)
        return self.wait(job, data, params)

    def prepare(self, data: dict[str, Any], params: dict[str, Any], tag: str) -> VendorJob | Any:
        """The job to submit; or the answer to one that is not to be run."""
        with cancellable():
            try:
                profile = self.read_profile()
            except BackendFailure:
                raise
            except Exception as error:
                raise _describe(error, "The vendor does not say what the device is") from error
            given = {"data": data, "params": params, "profile": profile}
            prepared = call_apart(self.decoder, "prepare", given)
        if "answer" in prepared:
            return prepared["answer"]
        return VendorJob(prepared["circuits"], tag, prepared.get("options", {}))

    def send(self, job: VendorJob) -> str:
        """Submits it. A cancellation waits: an id that came and was dropped would be forgotten."""
        try:
            return _check_id(self.submit(job))
        except BackendFailure:
            raise
        except Exception as error:
            found = self.look_for(job.tag, _SUBMIT_PATIENCE)
            if found is not None:
                return found
            what = "The job was not submitted" if self.find else "The job may have been submitted"
            raise _describe(error, what) from error

    def look_again(self, tag: str) -> str | None:
        """What an attempt before has left without its id. Nothing is submitted a second time where
        the worker was lost: what the vendor does not tell may be there all the same."""
        try:
            found = self.look_for(tag, self.patience)
        except BackendFailure as failure:
            if not was_lost():
                raise
            raise _Lost from failure
        if found is None and was_lost():
            raise _Lost
        if self.find is None:
            raise BackendFailure(VENDOR_ERROR, _UNTOLD)
        return found

    def look_for(self, tag: str, patience: float) -> str | None:
        """What the vendor has by this tag, which it may know a moment late. Raises BackendFailure
        where it cannot be asked for so many seconds."""
        if self.find is None:
            return None
        began = time.monotonic()
        pause, misses = 0.0, 0
        while True:
            time.sleep(pause)
            pause = min(pause * 2 + 1.0, 30.0)
            try:
                found = self.find(tag)
                if found is not None:
                    return _check_id(found)
            except Exception as error:
                if time.monotonic() - began > patience:
                    raise _describe(error, "The vendor does not tell its jobs") from error
                continue
            misses += 1
            if misses == _MISSES:
                return None

    def keep(self, job: str) -> None:
        try:
            with cancellable():
                keep_handle(json.dumps({"id": job}))
        except Cancelled:
            self.give_up(job)
            raise

    def wait(self, job: str, data: dict[str, Any], params: dict[str, Any]) -> Any:
        try:
            outputs = self.await_outputs(job)
        except Cancelled:
            self.give_up(job)
            raise
        # What a function would ask the vendor for is nothing that a result may depend on.
        profile = {} if callable(self.profile) else dict(self.profile)
        given = {"data": data, "params": params, "profile": profile, "outputs": outputs}
        with cancellable():
            try:
                answer = call_apart(self.decoder, "finish", given)
            except BackendFailure as failure:
                if failure.code != CIRCUIT_INVALID:
                    raise
                # It was valid when it was submitted.
                raise BackendFailure(VENDOR_ERROR, f"Job {job}: {failure.detail}") from None
            except (TypeError, ValueError, RecursionError) as error:
                raise _describe(error, f"What job {job} has measured is no JSON") from None
        if isinstance(answer, dict) and isinstance(answer.get("metadata"), dict):
            answer["metadata"]["vendor_job_id"] = job
        return answer

    def await_outputs(self, job: str) -> list[Any]:
        """Asks at growing intervals; what fails by the way is asked again, for a while."""
        pause, most = self.interval
        told = None
        answered_at = time.monotonic()
        while True:
            # Each round: a library of the vendor's may have swallowed what was raised in one.
            with cancellable():
                state, answered_at = self.ask(job, answered_at)
                if state is not None and not isinstance(state, str):
                    return _check_outputs(job, state)
                if state is not None and state != told:
                    told = state
                    print(f"Job {job} of the vendor: {state[:_MAX_STATE]}", flush=True)
                time.sleep(pause)
            pause = min(pause * _GROWTH, most)

    def ask(self, job: str, answered_at: float) -> tuple[Any, float]:
        """What the vendor says of the job, and when it has last said anything."""
        try:
            return self.poll(job), time.monotonic()
        except BackendFailure:
            raise
        except Exception as error:
            if time.monotonic() - answered_at > self.patience:
                what = f"Job {job} of the vendor cannot be asked for"
                raise _describe(error, what) from error
            return f"not to be asked for: {describe_error(error)}", answered_at

    def give_up(self, job: str) -> None:
        """Cancels it at the vendor, within the seconds that the platform leaves."""
        for pause in _CANCEL_PAUSES:
            time.sleep(pause)
            try:
                self.cancel(job)
            except Exception as error:
                reason = describe_error(error)
                print(f"Job {job} of the vendor was not cancelled: {reason}", flush=True)
            else:
                print(f"Job {job} of the vendor was cancelled.", flush=True)
                return


def _is_later() -> bool:
    return os.environ.get("SERVICE_EXECUTION_ATTEMPT", "1") != "1"


def _check_id(found: Any) -> str:
    """A text that can be kept, whole.

    :raises ValueError: it is none
    """
    is_text = isinstance(found, str) and 0 < len(found) <= _MAX_ID
    if not is_text or not (found.isascii() and found.isprintable()):
        raise ValueError(f"the vendor's id of the job is {repr(found)[:100]}")
    return str(found)


def _check_outputs(job: str, found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)) and all(isinstance(output, dict) for output in found):
        return list(found)
    detail = f"Job {job}: what was measured is no list of objects but {repr(found)[:100]}."
    raise BackendFailure(VENDOR_ERROR, detail)


def _describe(error: Exception, what: str) -> BackendFailure:
    code = BACKEND_OFFLINE if _is_away(error) else VENDOR_ERROR
    return BackendFailure(code, f"{what}: {describe_error(error)}")


def _is_away(error: BaseException | None) -> bool:
    """Whether a connection has failed: libraries have errors of their own for that."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error is not None


def external(
    submit: Callable[[VendorJob], str],
    poll: Callable[[str], Any],
    cancel: Callable[[str], None],
    find: Callable[[str], str | None] | None,
    **settings: Unpack[ExternalSettings],
) -> tuple[Run, Describe]:
    """`run` and `describe` of a backend whose jobs run at a vendor.

    `submit` returns the vendor's id of the job, which must carry the tag. `poll` returns None or a
    text while the job waits or runs, and in the end a list with what was measured of each circuit
    (`circuits.py`). `cancel` may be called for a job that has ended. `find` returns the id of the
    job with a tag, or None; without `find`, what may have been submitted is UNKNOWN. All may raise
    `BackendFailure` with VENDOR_REJECTED, VENDOR_ERROR or BACKEND_OFFLINE, which ends the job; of
    `find` and `poll`, other exceptions are tried again.

    Circuits are decoded in an interpreter of its own that has none of the
    environment: a hole in a parser reaches no credentials.
    """
    decoder = settings.get("decoder", CIRCUITS)
    description = settings.get("description")
    adapter = _Adapter(
        submit=submit,
        poll=poll,
        cancel=cancel,
        find=find,
        profile=settings["profile"],
        decoder=decoder,
        interval=settings.get("interval", (1.0, 30.0)),
        patience=settings.get("patience", 900.0),
    )

    def run(data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = adapter.run(data, params)
        return answer

    def describe() -> dict[str, Any]:
        if description is not None:
            return description()
        module = importlib.import_module(decoder)
        described: dict[str, Any] = module.describe(adapter.read_profile())
        return described

    return run, describe
