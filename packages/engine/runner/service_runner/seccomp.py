"""The system call filter of a child.

Node assembles it (`sandbox/seccomp`); the kernel adds it to that of the sandbox. It holds for all
that the child starts, and cannot be taken back.
"""

from __future__ import annotations

import base64
import ctypes
import os
import struct

from . import kernel

_INSTRUCTION_BYTES = 8
_OPERAND_OFFSET = 4
_PROGRAM = struct.Struct("@HP")
"""struct sock_fprog (linux/filter.h): the number of instructions, and where they are."""
_OPERAND = struct.Struct("<I")


def _name_parent_group() -> int:
    """The process group of the parent, as kill(2) takes it, in 32 bits."""
    return -os.getpgid(os.getppid()) & 0xFFFFFFFF


_STAND_INS = {0x7FFFFFF1: os.getpid, 0x7FFFFFF2: os.getppid, 0x7FFFFFF3: _name_parent_group}
"""`OWN_PID`, `PARENT_PID` and `PARENT_GROUP` in `judged-calls.ts`: what they stand for."""


class Filter:
    """A program that is ready to be installed: the zygote decodes it once for all its children."""

    __slots__ = ("_instructions", "_program", "_stand_ins")

    def __init__(self, text: str) -> None:
        """Decodes the base64 text of an array of struct sock_filter."""
        program = base64.b64decode(text)
        self._instructions = ctypes.create_string_buffer(program, len(program))
        offsets = range(_OPERAND_OFFSET, len(program), _INSTRUCTION_BYTES)
        operands = [(offset, _OPERAND.unpack_from(program, offset)[0]) for offset in offsets]
        self._stand_ins = [
            (offset, _STAND_INS[operand]) for offset, operand in operands if operand in _STAND_INS
        ]
        length = len(program) // _INSTRUCTION_BYTES
        self._program = _PROGRAM.pack(length, ctypes.addressof(self._instructions))

    def install(self) -> None:
        """Restricts this thread and all that it starts; raises OSError.

        Must be called before other threads are started.
        """
        for offset, read_number in self._stand_ins:
            _OPERAND.pack_into(self._instructions, offset, read_number())
        kernel.install_filter(self._program)
