"""From what a backend returned to Qiskit's `Result`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from qiskit.result import Result
from qiskit.result.models import ExperimentResult

from .. import samples
from ..errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import JobInfo

_WORD_BITS = 63


class UnreadableResultError(PlatformError):
    """The backend returned something else than what was measured."""


def build_result(
    raw: dict[str, Any],
    info: JobInfo,
    headers: Sequence[dict[str, Any]] | None = None,
    with_memory: bool = True,
) -> Result:
    """Counts, the same shots one by one, and probabilities, for each circuit of a job.

    `headers` have names and metadata of the circuits, where these are known.

    :raises UnreadableResultError: it has not the shape `registers`
    """
    try:
        experiments = [
            _build_experiment(pub, index, with_memory) for index, pub in enumerate(raw["pubs"])
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UnreadableResultError(
            f"The result of job {info.id} is unreadable: {reason}"
        ) from error
    for experiment, more in zip(experiments, headers or (), strict=False):
        experiment["header"].update(more)
    about = raw.get("metadata") or {}
    return Result(
        backend_name=info.backend_id,
        backend_version=str(info.raw.get("backend_version") or ""),
        job_id=info.id,
        success=True,
        results=[ExperimentResult.from_dict(experiment) for experiment in experiments],
        date=info.ended_at,
        status="COMPLETED",
        time_taken=about.get("seconds"),
        metadata=about,
        qobj_id=None,
    )


def read_register(register: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The packed bits of a register: its shape, then shots, then bytes."""
    bits, shots, shape = register["bits"], register["shots"], tuple(register.get("shape") or ())
    if not all(isinstance(number, int) and number >= 0 for number in (bits, shots, *shape)):
        raise ValueError("bits, shots and shape are not whole numbers")
    width = samples.count_bytes(bits)
    content = samples.unpack(register["samples"], samples.count_samples(shots, shape) * width)
    return np.frombuffer(content, dtype=np.uint8).reshape((*shape, shots, width))


def _build_experiment(pub: dict[str, Any], index: int, with_memory: bool) -> dict[str, Any]:
    registers = pub["registers"]
    shots = int(pub["shots"])
    memory = [hex(value) for value in join_registers(registers, shots)]
    counts = dict(Counter(memory))
    data: dict[str, Any] = {
        "counts": counts,
        "probabilities": {key: count / shots for key, count in counts.items()},
    }
    if with_memory:
        data["memory"] = memory
    sizes = [[register["name"], register["bits"]] for register in registers]
    return {
        "shots": shots,
        "success": True,
        "status": "DONE",
        "meas_level": 2,
        "data": data,
        "header": {
            "name": pub.get("name") or f"circuit-{index}",
            "creg_sizes": sizes,
            "memory_slots": sum(size for _, size in sizes),
            "metadata": {},
        },
    }


def join_registers(registers: Sequence[dict[str, Any]], shots: int) -> list[int]:
    """The shots as numbers: the first register has the lowest bits."""
    total = sum(register["bits"] for register in registers)
    joined: Any = 0 if total > _WORD_BITS else np.zeros(shots, dtype=np.int64)
    wide = [0] * shots
    offset = 0
    for register in registers:
        rows = read_register(register)
        if rows.ndim != 2 or len(rows) != shots:
            raise ValueError("a register is a sweep, or has other shots than its circuit")
        if total > _WORD_BITS:
            values = [int.from_bytes(row.tobytes(), "big") << offset for row in rows]
            wide = [one | other for one, other in zip(wide, values, strict=True)]
        else:
            padded = np.zeros((shots, 8), dtype=np.uint8)
            padded[:, 8 - rows.shape[1] :] = rows
            joined |= padded.view(">i8").ravel().astype(np.int64) << offset
        offset += register["bits"]
    return wide if total > _WORD_BITS else joined.tolist()
