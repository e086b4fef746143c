"""What can go wrong, each with what a caller needs to decide; no text has a token in it."""

from __future__ import annotations


class PlatformError(Exception):
    """Base of all errors of this SDK."""


class CredentialsNotFound(PlatformError):
    """There is no access token: not given, not in the environment, not in a stored login."""


class ConfigInvalidError(CredentialsNotFound):
    """The file of the stored login cannot be used, and no token came from elsewhere."""


class MissingDependencyError(PlatformError, ImportError):
    """A package is not installed that this call needs; the text says how to install it."""


class InvalidProblemError(PlatformError, ValueError):
    """The backend would refuse it: too wide, too many, unbound parameters, nothing measured.

    Also what an argument must be, and is not.
    """


class ServerUnreachableError(PlatformError, ConnectionError):
    """No answer came, however often it was tried; `__cause__` is the last failure."""


class ApiError(PlatformError):
    """The platform refused a request.

    `status` is that of HTTP; `code` says why, and stays the same for ever; `detail` is for people.
    """

    def __init__(self, status: int, code: str, detail: str, request_id: str | None = None) -> None:
        named = "" if request_id is None else f" (request {request_id})"
        super().__init__(f"{status} {code}: {detail}{named}")
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id


class InvalidAccessTokenError(ApiError):
    """The platform does not know the access token, or it is no token at all."""


class BackendNotFoundError(ApiError):
    """There is no such backend, or the organisation may not use it."""


class _JobEnded(PlatformError):
    def __init__(self, job_id: str, code: str, detail: str) -> None:
        super().__init__(f"Job {job_id}: {code}: {detail}")
        self.job_id = job_id
        self.code = code
        self.detail = detail


class JobFailedError(_JobEnded):
    """The job has ended without a result."""


class JobCancelledError(_JobEnded):
    """The job was cancelled."""


class JobTimeoutError(PlatformError, TimeoutError):
    """The waiting has ended, not the job."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(
            f"Job {job_id} has not ended within {seconds:g} s. It goes on: wait again, ask for its "
            "result later, or cancel it."
        )
        self.job_id = job_id
