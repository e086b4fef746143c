"""Annealing on sim.annealing of a running platform."""

from __future__ import annotations

import pytest

from ..support.needs import need_packages

need_packages("dimod")

from .live import connect  # noqa: E402

# isort: split
import dimod  # noqa: E402

from platform_quantum import JobFailedError  # noqa: E402
from platform_quantum.annealing import PlatformSampler  # noqa: E402

PROBLEM = dimod.BinaryQuadraticModel({"a": 1, ("b", 2): -1}, {("a", ("b", 2)): 0.5}, 0, "SPIN")
BEST = {"a": -1, ("b", 2): 1}


@pytest.mark.parametrize("name", ["simulated-annealing", "tabu", "steepest-descent", "exact"])
def test_every_sampler_finds_the_best_state(name: str) -> None:
    options = {"timeout": 20} if name == "tabu" else {}
    sampler = PlatformSampler(provider=connect())
    found = sampler.sample(PROBLEM, num_reads=4, sampler=name, **options)
    assert found.first.sample == BEST
    assert found.first.energy == -2.5
    assert found.info["job_id"]


def test_the_mixins_of_dimod_work() -> None:
    sampler = PlatformSampler("sim.annealing", connect())
    found = sampler.sample_qubo({("x", "x"): -1, ("y", "y"): -1, ("x", "y"): 2}, num_reads=10)
    assert found.first.energy == -1


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(JobFailedError) as raised:
        PlatformSampler(provider=connect()).sample(PROBLEM, colour="red")
    assert raised.value.code == "INVALID_INPUT"
