"""OpenQASM 2 in; counts, a state or some of its amplitudes out, qubit 0 always first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..failures import INVALID_INPUT, BackendFailure
from . import Translation
from .counts import translate as translate_counts

if TYPE_CHECKING:
    from collections.abc import Callable

_MODES = ("sample", "statevector", "amplitudes")
_IGNORED = ("mode", "bitstrings", "cpu_threads", "max_fused_gate_size")
_MAX_BITSTRINGS = 10_000


def translate(data: dict[str, Any], params: dict[str, Any]) -> Translation:
    """The job in the own form."""
    mode = params["mode"]
    if mode not in _MODES:
        raise BackendFailure(INVALID_INPUT, f"`mode` must be one of {', '.join(_MODES)}.")
    rest = {name: value for name, value in params.items() if name not in _IGNORED}
    translated = translate_counts(data, rest)
    if mode == "sample":
        return Translation(translated.data, translated.params, _tell_counts)
    if mode == "statevector":
        return Translation(translated.data, translated.params, _tell_state, is_state=True)
    tell = _tell_amplitudes(params.get("bitstrings"))
    return Translation(translated.data, translated.params, tell, is_state=True)


def _tell_counts(result: dict[str, Any]) -> dict[str, Any]:
    (pub,) = result["pubs"]
    return {"counts": {bits[::-1]: count for bits, count in pub["counts"].items()}}


def _tell_state(result: dict[str, Any]) -> dict[str, Any]:
    state = _turn(result)
    return {"statevector": [[float(one.real), float(one.imag)] for one in state]}


def _tell_amplitudes(wanted: Any) -> Callable[[dict[str, Any]], Any]:
    is_list = isinstance(wanted, list) and len(wanted) <= _MAX_BITSTRINGS
    if not is_list or not all(isinstance(bits, str) for bits in wanted):
        detail = f"`bitstrings` must be a list of {_MAX_BITSTRINGS} texts at most."
        raise BackendFailure(INVALID_INPUT, detail)

    def tell(result: dict[str, Any]) -> dict[str, Any]:
        state, count = _turn(result), result["qubits"]
        amplitudes = {}
        for bits in wanted:
            if len(bits) != count or set(bits) - {"0", "1"}:
                detail = f"{bits[:50]!r} is no state of {count} qubits."
                raise BackendFailure(INVALID_INPUT, detail)
            one = state[int(bits, 2)]
            amplitudes[bits] = [float(one.real), float(one.imag)]
        return {"amplitudes": amplitudes, "metadata": {"num_qubits": count}}

    return tell


def _turn(result: dict[str, Any]) -> Any:
    """The state with qubit 0 as the highest bit of the index."""
    count = result["qubits"]
    return np.asarray(result["state"]).reshape([2] * count).transpose().ravel()
