"""Is an exception the failure to reach another host? By duck typing: no client library is ever imported here."""

import errno
import re

from .failure import Failure, describe_exception

_ERRNOS = {
    getattr(errno, name)
    for name in (
        "ENETUNREACH",
        "EHOSTUNREACH",
        "ENETDOWN",
        "EHOSTDOWN",
        "ECONNREFUSED",
        "ETIMEDOUT",
    )
    if hasattr(errno, name)
}
_CLIENTS = ("requests", "httpx", "httpcore", "urllib3", "aiohttp", "botocore")
_NAMES = {
    "ConnectError", "ConnectTimeout", "ConnectionError", "ConnectTimeoutError", "NewConnectionError", "NameResolutionError", "ClientConnectorError",
    "ClientConnectorDNSError", "ConnectionTimeoutError", "EndpointConnectionError", "ConnectTimeoutException", "ProxyError",
}  # fmt: skip
_MAX_LINKS = 20
_HOST_IN_MESSAGE = re.compile(r"host='([^']+)'|https?://([^/\s:'\"]+)|connect to host ([^\s:]+)")


def read_connection_failure(error: BaseException) -> Failure | None:
    """CONNECTION_ERROR when this exception, or one that it wraps, says that a host could not be reached."""
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
        wrapped = (
            link.__cause__,
            context,
            _read(link, "reason"),
            *link.args[:2],
            *(_read(link, "exceptions") or ()),
        )
        waiting.extend(item for item in wrapped if isinstance(item, BaseException))
    return chain


def _read(value, name: str):
    """An attribute that may be a property which raises (httpx's `request`)."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _is_connection_error(error: BaseException, outermost: BaseException) -> bool:
    if isinstance(error, ConnectionError):
        return not isinstance(error, BrokenPipeError)  # pipes of subprocesses break too
    kind = type(error)
    if isinstance(error, OSError) and (
        kind.__name__ in ("gaierror", "herror") or error.errno in _ERRNOS
    ):
        return True
    if isinstance(error, TimeoutError) and error is not outermost:
        return (
            type(outermost).__name__ == "URLError"
        )  # urllib wraps only what happened while connecting
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
        match = _HOST_IN_MESSAGE.search(str(error)[:2000])
    except Exception:
        return None
    return next(filter(None, match.groups()), None) if match else None


def _host_of_frames(error: BaseException) -> str | None:
    """The standard library's own frames know what they were connecting to, its exceptions do not."""
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
