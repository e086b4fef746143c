"""The way of a run to the quantum API: the variables that say so, and the door of the sandbox.

The door is a socket of Node in the folder of the zygote, and nothing but the quantum API is behind
it. A sandbox may have no network, and another one closes all private addresses: so the variables
name an address at which nothing listens, and a connection to it is made through the door instead.
That happens in `socket.socket`, which libraries for HTTP use.
"""

from __future__ import annotations

import errno
import os
from functools import partial

from .late_patches import patch_when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .messages import QuantumAccess

_HOST, _PORT = "127.0.0.1", 890
"""Nobody listens there: runs may bind no port below 1024."""
ENDPOINT = f"http://{_HOST}:{_PORT}"
_BASE_URL = f"{ENDPOINT}/quantum"
_OWN = ("PLATFORM_ENDPOINT",), ("PLATFORM_SERVICE_EXECUTION_TOKEN",), ENDPOINT
_PUBLISHED = (
    ("PLANQK_QUANTUM_BASE_URL", "QHUB_QUANTUM_BASE_URL"),
    (
        "PLANQK_SERVICE_EXECUTION_TOKEN",
        "SERVICE_EXECUTION_TOKEN",
        "KQH_SERVICE_EXECUTION_TOKEN",
    ),
    _BASE_URL,
)


def open_door(access: QuantumAccess) -> None:
    """Lets this process, and those that it forks, use the quantum API."""
    for addresses, tokens, url in (_OWN, _PUBLISHED) if access["published"] else (_OWN,):
        # Where the service names another platform itself, that one must not get the token.
        if any(name in os.environ for name in addresses):
            continue
        os.environ.update(dict.fromkeys(addresses, url))
        os.environ.update(dict.fromkeys(tokens, access["token"]))
    patch_when_imported("socket", partial(_divert, access["door"]))


def _divert(door: str, module: Any) -> None:
    """Patches the class of sockets; `module` may be one of the project that has this name."""
    sockets = getattr(module, "socket", None)
    if not hasattr(module, "SocketType") or not isinstance(sockets, type):
        return
    kind: Any = sockets
    connect, try_connect, set_option = kind.connect, kind.connect_ex, kind.setsockopt

    def connect_or_enter(self: Any, address: Any) -> None:
        if not _is_door(module, self, address):
            return connect(self, address)  # type: ignore[no-any-return]
        return _enter(module, self, door)

    def try_connect_or_enter(self: Any, address: Any) -> int:
        if not _is_door(module, self, address):
            return try_connect(self, address)  # type: ignore[no-any-return]
        try:
            _enter(module, self, door)
        except OSError as error:
            return error.errno or errno.ECONNREFUSED
        return 0

    def set_option_of_tcp(self: Any, level: int, *rest: Any) -> None:
        try:
            set_option(self, level, *rest)
        except OSError:
            # Libraries set options of TCP, which the connection through the door is not.
            if level != module.IPPROTO_TCP or not _has_entered(module, self):
                raise

    kind.connect = connect_or_enter
    kind.connect_ex = try_connect_or_enter
    kind.setsockopt = set_option_of_tcp


def _is_door(module: Any, connection: Any, address: Any) -> bool:
    return (
        isinstance(address, tuple)
        and address == (_HOST, _PORT)
        and connection.family == module.AF_INET
        and connection.type == module.SOCK_STREAM
    )


def _enter(module: Any, connection: Any, door: str) -> None:
    """The descriptor of `connection` becomes one of a connection through the door."""
    descriptor = connection.fileno()
    with module.socket(module.AF_UNIX, module.SOCK_STREAM) as entered:
        try:
            entered.connect(door)
        except OSError:
            raise ConnectionRefusedError(
                errno.ECONNREFUSED, "the quantum API cannot be reached"
            ) from None
        is_blocking = os.get_blocking(descriptor)
        os.dup2(entered.fileno(), descriptor, inheritable=os.get_inheritable(descriptor))
    os.set_blocking(descriptor, is_blocking)


def _has_entered(module: Any, connection: Any) -> bool:
    # The name of a socket is of the kind that its descriptor is.
    return connection.family == module.AF_INET and isinstance(connection.getsockname(), str)
