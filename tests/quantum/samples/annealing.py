"""Samples a random problem by a sampler with the name that D-Wave gives it."""

import dimod
from planqk.dwave.provider import PlanqkDwaveProvider


def run(data: dict, params: dict) -> dict:
    provider = PlanqkDwaveProvider()
    sampler = provider.get_sampler(params.get("sampler", "SimulatedAnnealingSampler"), solver={})
    problem = dimod.generators.ran_r(1, data.get("variables", 5), seed=3)
    found = sampler.sample(problem, num_reads=20, seed=1)
    best = next(found.lowest().data(fields={"sample", "energy"}))
    return {
        "solution": {str(key): int(value) for key, value in best.sample.items()},
        "energy": float(best.energy),
    }
