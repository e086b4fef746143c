"""What was measured, as it travels: base64 of zlib of packed bits, as Qiskit's `BitArray` has them.

An array has a row of bytes for each shot, the most significant byte first; bit 0 of the register is
the lowest bit of the last byte. A sweep has one such array for each set of parameters, in C order.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 1024 * 1024 * 1024


def pack(content: bytes) -> str:
    """The text of bytes."""
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def unpack(text: str, size: int) -> bytes:
    """The bytes of a text, never more than `size`.

    :raises ValueError: it is no such text, or has more or fewer bytes
    """
    if not 0 <= size <= MAX_BYTES:
        raise ValueError(f"{size} bytes are more than can be read")
    machine = zlib.decompressobj()
    try:
        content = machine.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"it is not base64 of zlib: {error}") from None
    if len(content) != size or not machine.eof:
        raise ValueError(f"it does not have {size} bytes")
    return content


def count_bytes(bits: int) -> int:
    """Bytes of one shot of a register."""
    return (bits + 7) // 8


def count_samples(shots: int, shape: Sequence[int]) -> int:
    """Rows of a register."""
    return shots * math.prod(shape)
