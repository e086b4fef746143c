"""sim.annealing: samples binary quadratic models by dwave-samplers, or all states by dimod."""

import dimod
from dwave.samplers import SimulatedAnnealingSampler, SteepestDescentSampler, TabuSampler

from platform_quantum.backend import BackendFailure, annealing_backend

MAX_EXACT_VARIABLES = 20
MAX_SWEEPS = 1_000_000
MAX_TABU_MS = 60_000
SEEDS = 2**32 - 1
"""The samplers do not take the last number of 32 bits."""

OPTIONS = {
    "simulated-annealing": ("num_sweeps", "beta_range", "beta_schedule_type"),
    "tabu": ("tenure", "timeout", "num_restarts"),
    "steepest-descent": (),
    "exact": (),
}


def sample(problem):
    name = problem.named.get("sampler", "simulated-annealing")
    if not isinstance(name, str) or name not in OPTIONS:
        raise refuse(f"`sampler` must be one of {', '.join(OPTIONS)}.")
    chosen = {key: value for key, value in problem.named.items() if key != "sampler"}
    for key in chosen:
        if key not in OPTIONS[name]:
            raise refuse(f"The sampler {name} has no option `{key}`.")
    check_number(chosen, "num_sweeps", MAX_SWEEPS)
    check_number(chosen, "timeout", MAX_TABU_MS)
    if name == "exact":
        return sample_exactly(problem)
    if problem.bqm.num_variables == 0:
        return dimod.SampleSet.from_samples_bqm([{}] * problem.reads, problem.bqm)
    sampler = {
        "simulated-annealing": SimulatedAnnealingSampler,
        "tabu": TabuSampler,
        "steepest-descent": SteepestDescentSampler,
    }[name]()
    seed = problem.seed % SEEDS
    try:
        return sampler.sample(problem.bqm, num_reads=problem.reads, seed=seed, **chosen)
    except (OverflowError, TypeError, ValueError) as error:
        raise refuse(f"The sampler {name} refused an option: {error}") from None


def sample_exactly(problem):
    count = problem.bqm.num_variables
    if count > MAX_EXACT_VARIABLES:
        detail = f"The problem has {count} variables; exact takes {MAX_EXACT_VARIABLES}."
        raise BackendFailure("CIRCUIT_TOO_LARGE", detail)
    return dimod.ExactSolver().sample(problem.bqm).truncate(problem.reads, sorted_by="energy")


def check_number(chosen, name, most):
    value = chosen.get(name, 1)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise refuse(f"`{name}` must be a whole number from 1 to {most}.")


def refuse(detail):
    return BackendFailure("INVALID_INPUT", detail)


run, describe = annealing_backend(
    sample,
    options=("sampler", *(name for names in OPTIONS.values() for name in names)),
    display_name="Annealing simulator",
)
