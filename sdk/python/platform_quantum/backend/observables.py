"""Expectation values: observables as they travel, and results of shape `estimator`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qiskit.primitives.containers.observables_array import ObservablesArray

from .failures import INVALID_INPUT, BackendFailure, describe_error

if TYPE_CHECKING:
    from qiskit.primitives import BaseEstimatorV2

    from .limits import Limits
    from .options import Options
    from .pubs import Pub

_MAX_DEPTH = 8


def estimate_pubs(
    pubs: list[Pub], estimator: BaseEstimatorV2, options: Options, limits: Limits
) -> list[dict[str, Any]]:
    """`evs` and `stds` of each circuit, lists of the shape of observables and parameters."""
    _check_terms(pubs, limits)
    prepared = []
    for index, pub in enumerate(pubs):
        try:
            observables = ObservablesArray.coerce(pub.observables)
        except Exception as error:
            reason = describe_error(error)
            detail = f"/data/pubs/{index}/observables: {reason}"
            raise BackendFailure(INVALID_INPUT, detail) from None
        prepared.append((pub.circuit, observables, _shape_values(pub)))
    try:
        result = estimator.run(prepared, precision=options.precision).result()
    except ValueError as error:
        # Shapes that do not fit together, or observables of another width than the circuit.
        raise BackendFailure(INVALID_INPUT, describe_error(error)) from None
    return [
        {
            "name": pub.name,
            "evs": np.asarray(found.data.evs, dtype=float).tolist(),
            "stds": np.asarray(found.data.stds, dtype=float).tolist(),
        }
        for pub, found in zip(pubs, result, strict=True)
    ]


def _shape_values(pub: Pub) -> Any:
    if not pub.names:
        return None
    # The order that an array without names has in Qiskit: that of the parameters of the circuit.
    order = [pub.names.index(parameter.name) for parameter in pub.circuit.parameters]
    values = np.array(pub.values).reshape((*pub.shape, len(pub.names)))
    return values[..., order]


def _check_terms(pubs: list[Pub], limits: Limits) -> None:
    left = limits.observable_terms
    for index, pub in enumerate(pubs):
        if pub.observables is None:
            detail = f"/data/pubs/{index}/observables is missing."
            raise BackendFailure(INVALID_INPUT, detail)
        left -= _count(pub.observables, _MAX_DEPTH) * pub.runs
        if left < 0:
            detail = f"There are more than {limits.observable_terms} terms of observables."
            raise BackendFailure(INVALID_INPUT, detail)


def _count(observable: Any, depth: int) -> int:
    if isinstance(observable, list) and depth > 0:
        return sum(_count(one, depth - 1) for one in observable)
    if isinstance(observable, dict):
        return len(observable)
    if isinstance(observable, str):
        return 1
    raise BackendFailure(INVALID_INPUT, "An observable is an object of Pauli texts and numbers.")
