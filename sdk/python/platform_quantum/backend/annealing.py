"""An annealing backend from one function: `run, describe = annealing_backend(sample, ...)`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import dimod
import numpy as np

from .. import __version__
from .failures import (
    CIRCUIT_FORMAT_UNSUPPORTED,
    CIRCUIT_INVALID,
    CIRCUIT_TOO_LARGE,
    INVALID_INPUT,
    SHOTS_OUT_OF_RANGE,
    BackendFailure,
    describe_error,
)
from .limits import Limits
from .options import read_named, read_seed, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BQM = "DIMOD_BQM"
_OWN = ("shots", "seed", "dry_run")
_SEED_BITS = 32
"""Of the samplers of dwave-samplers."""
_MAX_READS = 10_000
_MAX_VALUES = 10_000_000
"""Reads times variables: what a result holds."""


@dataclass(frozen=True)
class Problem:
    """A problem to be sampled."""

    bqm: dimod.BinaryQuadraticModel
    reads: int
    seed: int
    """Drawn where the caller gave none; the result says which."""
    named: dict[str, Any] = field(default_factory=dict)
    """The options that this backend has of its own."""


class AnnealingProfile(TypedDict, total=False):
    """What an annealing backend can do."""

    options: Sequence[str]
    """Names of the options of its own; others are refused."""
    limits: Limits
    display_name: str
    provider: str
    technology: str
    documentation: Mapping[str, str]
    """`description`, `url`."""
    deterministic: bool
    """Whether the same seed gives the same result."""
    price: Mapping[str, Any]


def annealing_backend(
    sample: Callable[[Problem], dimod.SampleSet], **profile: Unpack[AnnealingProfile]
) -> tuple[
    Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]], Callable[[], dict[str, Any]]
]:
    """`run` and `describe` of a backend that samples binary quadratic models."""
    limits = profile.get("limits", Limits())
    names = tuple(profile.get("options", ()))

    def run(data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        problem = _read_problem(data, params, names, limits)
        if params.get("dry_run") is True:
            return {"valid": True, "warnings": []}
        found = sample(problem)
        return {
            "sampleset": found.to_serializable(),
            "metadata": {
                "seconds": round(time.perf_counter() - started, 6),
                "seed": problem.seed,
                "software": {"platform-quantum": __version__, "dimod": dimod.__version__},
            },
        }

    def describe() -> dict[str, Any]:
        return {
            "type": "ANNEALER",
            "technology": profile.get("technology", "simulated annealing"),
            "display_name": profile.get("display_name", "An annealing backend"),
            "provider": profile.get("provider", "PLATFORM"),
            "hardware_provider": profile.get("provider", "PLATFORM"),
            "documentation": dict(profile.get("documentation", {})),
            "deterministic": profile.get("deterministic", False),
            "dry_run": True,
            **({"price": dict(profile["price"])} if "price" in profile else {}),
            "configuration": {
                "variable_count": limits.variables,
                "interaction_count": limits.interactions,
                "operations": list(names),
                "shots_range": {"min": 1, "max": _MAX_READS},
                "max_pubs_per_job": 1,
                "supported_input_formats": [BQM],
                "memory_result_supported": False,
            },
        }

    return run, describe


def _read_problem(
    data: dict[str, Any], params: dict[str, Any], names: Sequence[str], limits: Limits
) -> Problem:
    if data.get("format") != BQM:
        detail = f"The format must be {BQM}, not {str(data.get('format'))[:50]!r}."
        raise BackendFailure(CIRCUIT_FORMAT_UNSUPPORTED, detail)
    refuse_unknown(params, names, _OWN)
    reads = params.get("shots", 1)
    if type(reads) is not int or not 1 <= reads <= _MAX_READS:
        detail = f"There must be 1 to {_MAX_READS} reads, not {str(reads)[:50]}."
        raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
    seed = read_seed(params.get("seed"), _SEED_BITS)
    bqm = _read_bqm(data.get("bqm"), limits)
    if reads * bqm.num_variables > _MAX_VALUES:
        detail = f"Reads times variables must be {_MAX_VALUES:,} at most."
        raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
    chosen = read_named(params, names)
    return Problem(bqm, reads, seed, chosen)


def _read_bqm(raw: Any, limits: Limits) -> dimod.BinaryQuadraticModel:
    if not isinstance(raw, dict):
        raise BackendFailure(INVALID_INPUT, "/data/bqm must be an object.")
    variables, interactions = raw.get("num_variables"), raw.get("num_interactions")
    if type(variables) is not int or type(interactions) is not int:
        detail = "/data/bqm is not a serialized binary quadratic model of dimod."
        raise BackendFailure(CIRCUIT_INVALID, detail)
    if variables > limits.variables or interactions > limits.interactions:
        detail = (
            f"The problem has {variables} variables and {interactions} interactions; there can be "
            f"{limits.variables} and {limits.interactions}."
        )
        raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
    try:
        _check_consistency(raw, variables, interactions)
        return dimod.BinaryQuadraticModel.from_serializable(raw)
    except Exception as error:
        reason = describe_error(error)
        raise BackendFailure(CIRCUIT_INVALID, f"/data/bqm cannot be read: {reason}") from None


def _check_consistency(raw: dict[str, Any], variables: int, interactions: int) -> None:
    """An index that is too large would make dimod allocate as many variables."""
    if raw.get("use_bytes"):
        raise ValueError("biases must be lists of numbers")
    linear = np.asarray(raw["linear_biases"], dtype=np.float64)
    quadratic = np.asarray(raw["quadratic_biases"], dtype=np.float64)
    ends = np.asarray([raw["quadratic_head"], raw["quadratic_tail"]], dtype=np.int64)
    if len(raw["variable_labels"]) != variables or linear.shape != (variables,):
        raise ValueError(f"it has not {variables} variables")
    if quadratic.shape != (interactions,) or ends.shape != (2, interactions):
        raise ValueError(f"it has not {interactions} interactions")
    if interactions and not 0 <= ends.min() <= ends.max() < variables:
        raise ValueError("an interaction names a variable that it does not have")
    numbers = (linear, quadratic, np.float64(raw["offset"]))
    if not all(np.isfinite(biases).all() for biases in numbers):
        raise ValueError("a bias is not finite")
    with np.errstate(over="ignore"):
        largest = sum(np.abs(biases).sum() for biases in numbers)
    if not np.isfinite(largest):
        raise ValueError("the energies are larger than numbers can be")
