"""Frames between Node and a child, and lines between Node and the zygote.

A frame is a 4-byte big-endian payload length, a 1-byte type and the payload. A line is one JSON
object. Both have golden samples in `packages/engine/wire`. What Node sends is parsed here, once,
into the shapes of `messages`.
"""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .messages import (
        BootOrder,
        ExternalRun,
        ForkOrder,
        InputFiles,
        InputPool,
        Isolation,
        KillOrder,
        Order,
        OutputLimits,
        OutputPool,
        Probe,
        QuantumAccess,
        RequestOptions,
        SpawnedStart,
        StartMode,
    )

HELLO = 1
REQUEST = 2
BODY = 3
START = 6
ADMIT = 7
KEPT = 8
METADATA = 16
RESULT = 17
FAILURE = 18
READY = 19
CALL = 20
FILE = 21
CONTENT = 22
OMITTED = 23
POOL_FILE = 24
PROGRESS = 25
CHECKPOINT = 26
HANDLE = 27

# `json.loads` and `dumps` would look for the encoding, and make an encoder for each message.
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(separators=(",", ":"))
HEADER = struct.Struct(">IB")
_NUMBER = struct.Struct(">I")
MAX_INPUT_FRAME = 1 << 30
"""Node has checked the size of the input; this only rejects a corrupt length."""
_READ_BYTES = 1 << 16


class ProtocolError(Exception):
    """The other side sent something that is not part of the protocol."""


def encode_frame(kind: int, payload: bytes = b"") -> bytes:
    """Header and payload in one piece."""
    return HEADER.pack(len(payload), kind) + payload


def encode_hello(channel: str, token: str) -> bytes:
    """First bytes of a connection: which of the three it is (`c`, `o`, `e`), and the token."""
    return encode_frame(HELLO, (channel + token).encode("ascii"))


ADMITTED = encode_frame(ADMIT)


def encode_call(number: int) -> bytes:
    """What a child says first: its process id as its zygote numbers processes."""
    return encode_frame(CALL, _NUMBER.pack(number))


def encode_line(message: Mapping[str, object]) -> bytes:
    """One JSON object, ended by a newline."""
    return _ENCODER.encode(message).encode("ascii") + b"\n"


def decode_order(line: bytes) -> Order:
    """An order of Node; raises ProtocolError."""
    members = _decode_object(line)
    word = members.get("order")
    if word == "fork":
        return _read_fork(members)
    if word == "kill":
        return _read_kill(members)
    if word == "boot":
        return _read_boot(members)
    raise ProtocolError(f"unknown order {word!r}")


def decode_spawned_start(text: bytes) -> SpawnedStart:
    """What a spawning zygote wrote for a fresh interpreter; raises ProtocolError."""
    members = _decode_object(text)
    return {
        "boot": _read_boot(_read_object(members, "boot")),
        "id": _read_integer(members, "id"),
        "connections": _read_integers(members, "connections"),
    }


def decode_request(payload: bytes | bytearray) -> RequestOptions:
    """The payload of a frame REQUEST; raises ProtocolError."""
    members = _decode_object(payload)
    return {
        "executionId": _read_text(members, "executionId"),
        "attempt": 1 if "attempt" not in members else _read_integer(members, "attempt"),
        "resultBytes": _read_integer(members, "resultBytes"),
        "memory": _read_integer(members, "memory"),
        "linger": _read_flag(members, "linger"),
        "inputs": None if "inputs" not in members else _read_inputs(members),
        "files": None if "files" not in members else _read_limits(members),
        "outputPool": None if "outputPool" not in members else _read_output_pool(members),
        "trace": {} if "trace" not in members else _read_trace(members),
        "quantum": None if "quantum" not in members else _read_quantum(members),
        "external": None if "external" not in members else _read_external(members),
    }


def _read_external(members: dict[str, Any]) -> ExternalRun:
    external = _read_object(members, "external")
    return {
        "handle": None if external.get("handle") is None else _read_text(external, "handle"),
        "wasLost": _read_flag(external, "wasLost"),
    }


def _read_limits(members: dict[str, Any]) -> OutputLimits:
    limits = _read_object(members, "files")
    return {"count": _read_integer(limits, "count"), "bytes": _read_integer(limits, "bytes")}


def _read_trace(members: dict[str, Any]) -> dict[str, str]:
    trace = _read_object(members, "trace")
    return {name.upper(): _read_text(trace, name) for name in trace}


def _read_quantum(members: dict[str, Any]) -> QuantumAccess:
    quantum = _read_object(members, "quantum")
    return {
        "token": _read_text(quantum, "token"),
        "door": _read_text(quantum, "door"),
        "published": _read_flag(quantum, "published"),
    }


def _read_output_pool(members: dict[str, Any]) -> OutputPool:
    pool = _read_object(members, "outputPool")
    return {"path": _read_place(pool), "id": _read_text(pool, "id")}


def _read_inputs(members: dict[str, Any]) -> InputFiles:
    inputs = _read_object(members, "inputs")
    return {
        "folder": _read_text(inputs, "folder"),
        "parts": {
            name: _read_part(inputs, name) for name in inputs if name not in ("folder", "pools")
        },
        "pools": [_read_pool(pool) for pool in _read_list(inputs, "pools")],
    }


def _read_pool(pool: Any) -> InputPool:
    members = _require_object(pool, "pool")
    return {
        "path": _read_place(members),
        "id": _read_text(members, "id"),
        "files": [_read_pool_file(file) for file in _read_list(members, "files")],
    }


def _read_place(members: dict[str, Any]) -> list[str]:
    path = _read_texts(members, "path")
    if len(path) not in (1, 2):
        raise ProtocolError("path must be one of data and params, and a member of it at most")
    return path


def _read_pool_file(file: Any) -> tuple[str, int]:
    if isinstance(file, list) and len(file) == 2:
        name, size = file
        if isinstance(name, str) and type(size) is int:
            return name, size
    raise ProtocolError("files must be pairs of a name and a size")


def _read_part(members: dict[str, Any], name: str) -> tuple[int, int]:
    part = _read_integers(members, name)
    if len(part) != 2 or min(part) < 0:
        raise ProtocolError(f"{name} must be an offset and a length")
    return part[0], part[1]


def _read_boot(members: dict[str, Any]) -> BootOrder:
    variables = _read_object(members, "variables")
    return {
        "order": "boot",
        "project": _read_text(members, "project"),
        "home": _read_text(members, "home"),
        "scratch": _read_text(members, "scratch"),
        "keep": _read_texts(members, "keep"),
        "variables": {name: _read_text(variables, name) for name in variables},
        "memory": _read_integer(members, "memory"),
        "children": _read_integer(members, "children"),
        "isolation": _read_isolation(_read_object(members, "isolation")),
        "startMode": _read_start_mode(members),
        "probe": _read_kind(members),
        "external": _read_flag(members, "external"),
    }


def _read_isolation(members: dict[str, Any]) -> Isolation:
    network = members.get("network")
    if network != "own" and network != "shared":
        raise ProtocolError("network must be own or shared")
    return {
        "namespaces": _read_flag(members, "namespaces"),
        "network": network,
        "filter": None if members.get("filter") is None else _read_text(members, "filter"),
        "landlock": None if members.get("landlock") is None else _read_texts(members, "landlock"),
        "opened": _read_texts(members, "opened"),
    }


def _read_fork(members: dict[str, Any]) -> ForkOrder:
    return {
        "order": "fork",
        "id": _read_integer(members, "id"),
        "token": _read_text(members, "token"),
    }


def _read_kill(members: dict[str, Any]) -> KillOrder:
    return {
        "order": "kill",
        "id": _read_integer(members, "id"),
        "signal": _read_integer(members, "signal"),
    }


def _decode_object(text: bytes | bytearray) -> dict[str, Any]:
    try:
        members = _DECODER.decode(str(text, "utf-8"))
    except ValueError as error:
        raise ProtocolError(f"a message must be JSON: {error}") from None
    if not isinstance(members, dict):
        raise ProtocolError("a message must be an object")
    return members


def _read_text(members: dict[str, Any], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        raise ProtocolError(f"{name} must be a string")
    return value


def _read_texts(members: dict[str, Any], name: str) -> list[str]:
    value = members.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ProtocolError(f"{name} must be an array of strings")
    return value


def _read_integers(members: dict[str, Any], name: str) -> list[int]:
    value = members.get(name)
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise ProtocolError(f"{name} must be an array of integers")
    return value


def _read_integer(members: dict[str, Any], name: str) -> int:
    value = members.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ProtocolError(f"{name} must be an integer")
    return value


def _read_flag(members: dict[str, Any], name: str) -> bool:
    value = members.get(name)
    if not isinstance(value, bool):
        raise ProtocolError(f"{name} must be a boolean")
    return value


def _read_list(members: dict[str, Any], name: str) -> list[Any]:
    """Empty where it is missing."""
    value = members.get(name, [])
    if not isinstance(value, list):
        raise ProtocolError(f"{name} must be an array")
    return value


def _read_object(members: dict[str, Any], name: str) -> dict[str, Any]:
    return _require_object(members.get(name), name)


def _require_object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProtocolError(f"{name} must be an object")
    return value


def _read_start_mode(members: dict[str, Any]) -> StartMode:
    value = members.get("startMode")
    if value == "auto":
        return "auto"
    if value == "spawn":
        return "spawn"
    raise ProtocolError("startMode must be auto or spawn")


def _read_kind(members: dict[str, Any]) -> Probe:
    value = members.get("probe")
    if value == "none":
        return "none"
    if value == "service":
        return "service"
    if value == "backend":
        return "backend"
    raise ProtocolError("probe must be none, service or backend")


def write(connection: int, data: bytes) -> None:
    """Writes all of it; blocks until it is written. Raises OSError."""
    done = os.write(connection, data)
    if done < len(data):
        rest = memoryview(data)
        while done < len(data):
            done += os.write(connection, rest[done:])


class FrameReader:
    """The frames of a connection, which nothing else reads: small ones come several at a time.

    By its descriptor: making a socket object costs a child 0.03 ms.
    """

    __slots__ = ("_buffer", "_connection", "_limit")

    def __init__(self, connection: int, limit: int = MAX_INPUT_FRAME) -> None:
        self._connection = connection
        self._limit = limit
        self._buffer = b""

    def read(self) -> tuple[int, bytes | bytearray] | None:
        """Type and payload of the next frame; None when the other side has closed the connection.

        The size is checked before anything is allocated; raises ProtocolError.
        """
        while len(self._buffer) < HEADER.size:
            received = os.read(self._connection, _READ_BYTES)
            if not received:
                return None
            self._buffer += received
        size, kind = HEADER.unpack_from(self._buffer)
        if size > self._limit:
            raise ProtocolError(f"frame of {size} bytes exceeds {self._limit}")
        end = HEADER.size + size
        payload = self._buffer[HEADER.size : end]
        self._buffer = self._buffer[end:]
        if len(payload) == size:
            return kind, payload
        whole = self._complete(payload, size)
        return None if whole is None else (kind, whole)

    def _complete(self, begun: bytes, size: int) -> bytearray | None:
        payload = bytearray(size)
        payload[: len(begun)] = begun
        view = memoryview(payload)
        done = len(begun)
        while done < size:
            count = os.readv(self._connection, [view[done:]])
            if count == 0:
                return None
            done += count
        return payload
