"""Recognises exceptions that mean another host could not be reached.

By the shape and names of exceptions: no client library is ever imported here.
"""

from __future__ import annotations

import errno
import re

from .failure import Failure, describe_exception

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ERRNO_NAMES = (
    "ENETUNREACH",
    "EHOSTUNREACH",
    "ENETDOWN",
    "EHOSTDOWN",
    "ECONNREFUSED",
    "ETIMEDOUT",
    "EAFNOSUPPORT",  # no sockets of the internet: an isolation level without a network
)
_ERRNOS = {getattr(errno, name) for name in _ERRNO_NAMES if hasattr(errno, name)}
_CLIENTS = ("requests", "httpx", "httpcore", "urllib3", "aiohttp", "botocore")
_NAMES = {
    "ClientConnectorDNSError",
    "ClientConnectorError",
    "ConnectError",
    "ConnectTimeout",
    "ConnectTimeoutError",
    "ConnectTimeoutException",
    "ConnectionError",
    "ConnectionTimeoutError",
    "EndpointConnectionError",
    "NameResolutionError",
    "NewConnectionError",
    "ProxyError",
}
_MAX_LINKS = 20
_MAX_MESSAGE = 2000
_HOST_IN_MESSAGE = re.compile(r"host='([^']+)'|https?://([^/\s:'\"]+)|connect to host ([^\s:]+)")


def read_connection_failure(error: BaseException) -> Failure | None:
    """CONNECTION_ERROR if the exception, or one that it wraps, means an unreachable host."""
    chain = _unwrap(error)
    if not any(_is_connection_error(link, chain[0]) for link in chain):
        return None
    host = next((found for found in map(_find_host, chain) if found), None)
    where = f"Could not connect to {host}" if host else "Could not connect to another host"
    return Failure("CONNECTION_ERROR", f"{where}: {describe_exception(error)}")


def _unwrap(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    waiting = [error]
    while waiting and len(chain) < _MAX_LINKS:
        link = waiting.pop(0)
        if any(link is known for known in chain):
            continue
        chain.append(link)
        context = None if link.__suppress_context__ else link.__context__
        members = _read(link, "exceptions")
        members = members if isinstance(members, (tuple, list)) else ()
        wrapped = (link.__cause__, context, _read(link, "reason"), *link.args[:2], *members)
        waiting.extend(item for item in wrapped if isinstance(item, BaseException))
    return chain


def _read(value: object, name: str) -> Any:
    """An attribute that may be a property which raises (httpx's `request`)."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _is_connection_error(error: BaseException, outermost: BaseException) -> bool:
    if isinstance(error, ConnectionError):
        return not isinstance(error, BrokenPipeError)  # pipes of subprocesses break too
    kind = type(error)
    is_unresolved = kind.__name__ in ("gaierror", "herror")
    if isinstance(error, OSError) and (is_unresolved or error.errno in _ERRNOS):
        return True
    if isinstance(error, TimeoutError) and error is not outermost:
        # urllib wraps only what happened while connecting.
        return type(outermost).__name__ == "URLError"
    return kind.__name__ in _NAMES and kind.__module__.partition(".")[0] in _CLIENTS


def _find_host(error: BaseException) -> str | None:
    return _host_of_request(error) or _host_of_message(error) or _host_of_frames(error)


def _host_of_request(error: BaseException) -> str | None:
    host = _read(error, "host")
    if isinstance(host, str) and host:
        return host
    url = _read(_read(error, "request"), "url")
    if url is None:
        return None
    from urllib.parse import urlsplit

    try:
        return urlsplit(str(url)).hostname
    except ValueError:
        return None


def _host_of_message(error: BaseException) -> str | None:
    try:
        match = _HOST_IN_MESSAGE.search(str(error)[:_MAX_MESSAGE])
    except Exception:
        return None
    return next(filter(None, match.groups()), None) if match else None


def _host_of_frames(error: BaseException) -> str | None:
    """From the frames of the standard library: its exceptions do not name the host."""
    found, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.endswith(("/socket.py", "/asyncio/base_events.py")):
            names = trace.tb_frame.f_locals
            address = names.get("address")
            host = address[0] if isinstance(address, tuple) and address else names.get("host")
            found = host if isinstance(host, str) and host else found
        trace = trace.tb_next
    return found
