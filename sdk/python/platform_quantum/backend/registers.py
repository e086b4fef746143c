"""What was measured, as registers: from counts or bits of whole circuits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from qiskit.primitives.containers import BitArray

from .. import samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiskit.circuit import QuantumCircuit

    from .pubs import Pub

    Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

Output: TypeAlias = Mapping[str, int] | BitArray
"""What was measured of one circuit: counts by bit strings (or `0x` numbers), or all shots."""
LOOSE = ""
"""Name of a register of bits that are in none."""


def list_registers(circuit: QuantumCircuit) -> list[tuple[str, int]]:
    """Names and sizes that partition the classical bits in their order, the lowest bit first."""
    starts = {
        circuit.find_bit(register[0]).index: register for register in circuit.cregs if len(register)
    }
    found: list[tuple[str, int]] = []
    index = 0
    while index < circuit.num_clbits:
        register = starts.get(index)
        if register is not None and _is_contiguous(circuit, register, index):
            found.append((register.name, len(register)))
            index += len(register)
            continue
        if found and found[-1][0] == LOOSE:
            found[-1] = (LOOSE, found[-1][1] + 1)
        else:
            found.append((LOOSE, 1))
        index += 1
    return found


def describe_pub(pub: Pub, outputs: Sequence[Output], seed: int) -> dict[str, Any]:
    """A circuit in a result of shape `registers`; an output for each set of parameters.

    :raises ValueError: an output has other bits or shots than the circuit
    """
    bits = pub.circuit.num_clbits
    generator = np.random.default_rng(seed)
    arrays = [_to_bytes(output, bits, pub.shots, generator) for output in outputs]
    whole = np.stack(arrays) if arrays else np.zeros((0, pub.shots, 0), np.uint8)
    registers = list_registers(pub.circuit)
    described = []
    offset = 0
    for name, size in registers:
        part = whole if len(registers) == 1 else _cut(whole, offset, size)
        offset += size
        described.append(
            {
                "name": name,
                "bits": size,
                "shots": pub.shots,
                "shape": list(pub.shape),
                "samples": samples.pack(part.tobytes()),
            }
        )
    return {"name": pub.name, "shots": pub.shots, "registers": described}


def pack_memory(memory: Sequence[str], bits: int) -> BitArray:
    """All shots from texts such as `0x1f`, in the order of `memory`."""
    width = samples.count_bytes(bits)
    content = b"".join([int(shot, 16).to_bytes(width, "big") for shot in memory])
    rows = np.frombuffer(content, np.uint8).reshape(len(memory), width)
    return BitArray(rows, bits)


def _is_contiguous(circuit: QuantumCircuit, register: Any, start: int) -> bool:
    return all(circuit.find_bit(bit).index == start + place for place, bit in enumerate(register))


def _to_bytes(output: Output, bits: int, shots: int, generator: np.random.Generator) -> Bytes:
    if isinstance(output, Mapping):
        if any(not 0 <= int(count) <= shots for count in output.values()):
            raise ValueError(f"there is a count beyond {shots} shots")
        rows = _expand(output, bits)
        generator.shuffle(rows, axis=0)
    else:
        if output.num_bits != bits:
            raise ValueError(f"{output.num_bits} bits were measured of a circuit with {bits}")
        rows = np.asarray(output.array, np.uint8).reshape(-1, samples.count_bytes(bits))
    if len(rows) != shots:
        raise ValueError(f"there are {len(rows)} shots, and {shots} were asked for")
    return rows


def _expand(counts: Mapping[str, int], bits: int) -> Bytes:
    width = samples.count_bytes(bits)
    parts = []
    for key, count in counts.items():
        text = key.replace(" ", "")
        value = int(text, 16) if text.startswith("0x") else int(text or "0", 2)
        if value >> bits:
            raise ValueError(f"{key!r} was measured of a circuit with {bits} bits")
        parts.append(value.to_bytes(width, "big") * int(count))
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8).reshape(-1, max(width, 1))[:, :width]


def _cut(whole: Bytes, offset: int, size: int) -> Bytes:
    """Bits `offset` to `offset + size`, packed anew."""
    unpacked = np.unpackbits(whole, axis=-1)
    end = unpacked.shape[-1] - offset
    bits = unpacked[..., end - size : end]
    padding = samples.count_bytes(size) * 8 - size
    padded = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(padding, 0)])
    return np.packbits(padded, axis=-1)
