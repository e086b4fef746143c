"""Results of shape `counts`: for programs that do not want to unpack bits."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..qiskit.result import join_registers


def count_pub(pub: dict[str, Any]) -> dict[str, Any]:
    """A circuit of a result of shape `registers` with counts and shots as texts of bits.

    The first bit of the first register is the last letter; registers are not set apart.
    """
    width = sum(register["bits"] for register in pub["registers"])
    values = join_registers(pub["registers"], pub["shots"])
    memory = [format(value, f"0{width}b") for value in values]
    counts = dict(sorted(Counter(memory).items()))
    return {"name": pub["name"], "shots": pub["shots"], "counts": counts, "memory": memory}
