"""Frames between Node and a child: 4-byte big-endian payload length, 1-byte type, payload.

The lines between Node and the zygote are JSON, one object a line. Both have golden samples in `packages/engine/wire`.
"""

import json
import socket
import struct

HELLO = 1
REQUEST = 2
BODY = 3
DATA = 4
PARAMS = 5
START = 6
METADATA = 16
RESULT = 17
FAILURE = 18

HEADER = struct.Struct(">IB")
MAX_INPUT_FRAME = 1 << 30
"""Node has accepted the input already; this only stops a broken length from being believed."""


class ProtocolError(Exception):
    """The other side sent something that is no frame."""


def encode_frame(kind: int, payload: bytes = b"") -> bytes:
    return HEADER.pack(len(payload), kind) + payload


def encode_hello(channel: str, token: str) -> bytes:
    """First bytes of a connection: which of the three it is (`c`, `o`, `e`), and the single-use token."""
    return encode_frame(HELLO, (channel + token).encode("ascii"))


def encode_line(message: dict) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def decode_line(line: bytes) -> dict:
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ProtocolError("a line must be an object")
    return message


def _read_exactly(connection: socket.socket, size: int) -> bytearray | None:
    buffer = bytearray(size)
    view = memoryview(buffer)
    done = 0
    while done < size:
        count = connection.recv_into(view[done:])
        if count == 0:
            return None
        done += count
    return buffer


def read_frame(
    connection: socket.socket, limit: int = MAX_INPUT_FRAME
) -> tuple[int, bytearray] | None:
    """The next frame, or None when the other side has closed. The size is checked before anything is read."""
    header = _read_exactly(connection, HEADER.size)
    if header is None:
        return None
    size, kind = HEADER.unpack(header)
    if size > limit:
        raise ProtocolError(f"frame of {size} bytes exceeds {limit}")
    payload = _read_exactly(connection, size)
    return None if payload is None else (kind, payload)
