"""Braket's OpenQASM 3 in, Braket's task results out.

The input is a text, `{"source", "inputs"}`, or `{"programs": [...]}` of such objects, which is one
job. A program without shots is not sampled: what it asks for (`#pragma braket result`) is computed
exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..failures import (
    CIRCUIT_TOO_LARGE,
    INVALID_INPUT,
    SHOTS_OUT_OF_RANGE,
    TOO_MANY_CIRCUITS,
    BackendFailure,
)
from ..options import read_seed, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..limits import Limits

FORMAT = "BRAKET_OPEN_QASM_V3"
_OWN = ("shots", "seed", "dry_run")
_IGNORED = ("disable_qubit_rewiring", "memory")


@dataclass(frozen=True)
class Program:
    """A program, the values of its inputs, and how often it is run."""

    source: str
    inputs: dict[str, Any]
    shots: int
    """0: exact values of what it asks for."""


@dataclass(frozen=True)
class BraketRunner:
    """What runs programs."""

    simulate: Callable[[Program, str, int], dict[str, Any]]
    """A task result, of a program, a method and a seed."""
    methods: Sequence[str]
    """The first one is the default."""
    max_shots: int
    limits: Limits

    def run(self, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """A job in the form of Braket.

        :raises BackendFailure: with the code that says what is wrong
        """
        refuse_unknown(params, ("method",), (*_OWN, *_IGNORED))
        method = params.get("method") or self.methods[0]
        if method not in self.methods:
            known = ", ".join(self.methods)
            raise BackendFailure(INVALID_INPUT, f"`method` must be one of {known}.")
        seed = read_seed(params.get("seed"))
        shots = 0 if params.get("shots") is None else params["shots"]
        programs = [self._read(raw, shots) for raw in _list_programs(data, self.limits)]
        if sum(program.shots for program in programs) > self.limits.total_shots:
            detail = f"All programs together have more than {self.limits.total_shots} shots."
            raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
        if params.get("dry_run") is True:
            return {"valid": True, "warnings": []}
        told = [
            self.simulate(program, method, seed + index) for index, program in enumerate(programs)
        ]
        return {"results": told} if "programs" in data else told[0]

    def _read(self, raw: Any, default: Any) -> Program:
        source = raw.get("source") if isinstance(raw, dict) else raw
        if not isinstance(source, str):
            detail = (
                "A program of Braket is a text, or an object with a text `source`; several are "
                "`programs`, and no program set."
            )
            raise BackendFailure(INVALID_INPUT, detail)
        if len(source) > self.limits.qasm3_bytes:
            detail = f"A program has {len(source)} characters, more than {self.limits.qasm3_bytes}."
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
        given = raw if isinstance(raw, dict) else {}
        inputs, shots = given.get("inputs") or {}, given.get("shots", default)
        if not isinstance(inputs, dict) or not all(map(_is_finite, inputs.values())):
            raise BackendFailure(INVALID_INPUT, "`inputs` must be an object of finite numbers.")
        if type(shots) is not int or not 0 <= shots <= self.max_shots:
            detail = f"shots must be a whole number from 0 to {self.max_shots}."
            raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
        return Program(source, inputs, shots)


def _list_programs(data: dict[str, Any], limits: Limits) -> list[Any]:
    if "programs" not in data:
        return [data.get("input", data)]
    listed = data["programs"]
    if not isinstance(listed, list) or not listed:
        raise BackendFailure(INVALID_INPUT, "/data/programs must be a list of programs.")
    if len(listed) > limits.circuits:
        detail = f"The job has {len(listed)} programs, more than {limits.circuits}."
        raise BackendFailure(TOO_MANY_CIRCUITS, detail)
    return listed


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
