"""Which token, which platform, which organisation: found in the order that the guide names."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .arguments import read_header
from .config_file import StoredLogin, find_config_file, read_stored_login
from .errors import (
    ConfigInvalidError,
    CredentialsNotFound,
    InvalidAccessTokenError,
    InvalidProblemError,
)

DEFAULT_ENDPOINT = "http://localhost:8090"
_EXECUTION_TOKEN = "PLATFORM_SERVICE_EXECUTION_TOKEN"
_PERSONAL_TOKEN = "PLATFORM_PERSONAL_ACCESS_TOKEN"
_EXECUTION = "SERVICE_EXECUTION_ID"
"""What runs as an execution has it."""
_NO_TOKEN = (
    f"There is no access token. Pass access_token, set {_PERSONAL_TOKEN}, or log in with "
    "'platform login'."
)
_NO_ACCESS = (
    "This execution has no access to the quantum API. Executions get none where the worker runs "
    "them at isolation level C, where they are of a backend, and with 'platform serve' without "
    f"--quantum. With a network they use it by a token of their own ({_PERSONAL_TOKEN}, "
    "PLATFORM_ENDPOINT)."
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

logger = logging.getLogger("platform_quantum")


@dataclass(frozen=True)
class Credentials:
    """A token for one platform; the token is in no text that is made of this."""

    endpoint: str
    """Without `/api`, `/quantum` and without a final slash."""
    organization_id: str | None
    """None: that of the token."""
    token: str = field(repr=False)


def find_credentials(
    access_token: str | None = None,
    organization_id: str | None = None,
    endpoint: str | None = None,
) -> Credentials:
    """What is not given comes from the environment, else from the stored login.

    :raises CredentialsNotFound: there is no token
    :raises ConfigInvalidError: the only place that may have one is a file that cannot be used
    :raises InvalidAccessTokenError: what was found cannot be a token
    :raises InvalidProblemError: the endpoint is no address, the organisation no id, or one no text
    """
    given_texts = {"access_token": access_token, "organization_id": organization_id}
    for name, text in {**given_texts, "endpoint": endpoint}.items():
        # The value is not told: it may be a token.
        if text is not None and not isinstance(text, str):
            raise InvalidProblemError(f"{name} must be a text, not of type {type(text).__name__}.")
    execution_token = None if _fill(access_token) else _read_variable(_EXECUTION_TOKEN)
    given = _fill(access_token) or execution_token or _read_variable(_PERSONAL_TOKEN)
    stored = _read_login(is_needed=given is None)
    token = given or _fill(stored.token)
    if token is None:
        raise CredentialsNotFound(_NO_ACCESS if _read_variable(_EXECUTION) else _NO_TOKEN)
    organization = _fill(organization_id) or _read_variable("PLATFORM_ORGANIZATION_ID")
    if execution_token is not None:
        organization = None  # it is good for the organisation of its service alone
    elif organization is None:
        organization = _fill(stored.organization_id)
    address = _fill(endpoint) or _read_variable("PLATFORM_ENDPOINT") or _fill(stored.endpoint)
    return Credentials(
        endpoint=parse_endpoint(address or DEFAULT_ENDPOINT),
        organization_id=read_header("The id of the organisation", organization),
        token=_check_token(token),
    )


def parse_endpoint(text: str) -> str:
    """The address of a platform, with or without `/api` and slashes at its end, in one form.

    :raises InvalidProblemError: it is none
    """
    shape = "Examples: https://platform.example.org, http://localhost:8090."
    try:
        parts = urlsplit(text.strip())
        port = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise InvalidProblemError(f"The endpoint is not a URL. {shape}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidProblemError(f"The endpoint is not a URL of http or https. {shape}")
    if not (parts.path.isascii() and parts.path.isprintable()) or " " in parts.path:
        raise InvalidProblemError(f"The path of the endpoint has characters of no URL. {shape}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        logger.warning("%s is not encrypted: others can read and use your token.", host)
    path = parts.path.rstrip("/")
    for ending in ("/api", "/quantum"):
        path = path.removesuffix(ending)
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{path}"


def _read_login(is_needed: bool) -> StoredLogin:
    try:
        return read_stored_login(find_config_file())
    except ConfigInvalidError as error:
        if is_needed:
            raise
        logger.warning("%s It is ignored: the token came from elsewhere.", error)
        return StoredLogin()


def _check_token(token: str) -> str:
    # http.client would show it in its error.
    if not token.isascii() or not token.isprintable() or " " in token:
        detail = "The access token has characters that no token has, such as blanks or line ends."
        raise InvalidAccessTokenError(401, "UNAUTHENTICATED", detail)
    return token


def _read_variable(name: str) -> str | None:
    return _fill(os.environ.get(name))


def _fill(text: str | None) -> str | None:
    """Without blanks at its ends; None if nothing is left."""
    return (text or "").strip() or None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    return host in _LOOPBACK or host.startswith("127.")
