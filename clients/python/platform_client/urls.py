"""What the URLs of requests are made of."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlsplit

_NEXT = re.compile(r'<([^>]*)>[^,]*rel="?next')


def check_url(url: str, name: str) -> str:
    """The URL without final slashes; it is not shown where it is wrong, it may have a password.

    :raises ValueError: requests to it would go elsewhere than it seems, or nowhere
    """
    wrong = f"{name} has to be a URL such as https://host/path, with no user, query or fragment."
    if re.fullmatch(r"[!-~]+", url) is None or any(mark in url for mark in '@?#\\"<>'):
        raise ValueError(wrong)
    try:
        parts = urlsplit(url)
        is_known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_known = False
    if not is_known:
        raise ValueError(wrong)
    return url.rstrip("/")


def to_path(*names: str) -> str:
    """The path of these names.

    :raises ValueError: one would be none, or lead to another path than it says
    """
    for name in names:
        if not isinstance(name, str) or name in ("", ".", ".."):
            raise ValueError(f"An id or the name of a file is needed, not {name!r}.")
    return "".join(f"/{quote(name, '')}" for name in names)


def guess_token_url(endpoint: str) -> str | None:
    """The token endpoint stands beside the services: `{gateway}/{key}/{name}/{version}`.

    None: it is no such endpoint, but that of `platform serve`, which is told no secret.
    """
    parts = endpoint.split("/")
    return f"{'/'.join(parts[:-3])}/token" if len(parts) > 5 else None


def read_cursor(link: str) -> str | None:
    """The cursor of the next page that a `Link` header names."""
    found = _NEXT.search(link)
    if found is None:
        return None
    return next(iter(parse_qs(urlsplit(found[1]).query).get("cursor", [])), None)
