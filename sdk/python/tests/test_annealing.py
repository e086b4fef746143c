"""Annealing: problems on their way to a backend and back, and samplers in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .support.needs import need_packages

need_packages("dimod")

import dimod  # noqa: E402

from platform_quantum import (  # noqa: E402
    BackendNotFoundError,
    InvalidProblemError,
    PlatformQuantumProvider,
)
from platform_quantum.annealing import PlatformDwaveProvider, PlatformSampler  # noqa: E402
from platform_quantum.backend import (  # noqa: E402
    BackendFailure,
    Limits,
    Problem,
    annealing_backend,
)

from .conftest import TOKEN  # noqa: E402
from .support.descriptions import JOB, describe_job  # noqa: E402
from .support.entrances import (  # noqa: E402
    ESTIMATE,
    OPTIONS,
    answer_all,
    check_estimated,
    check_started,
    read_key,
)
from .support.scripted_server import Answer, ScriptedServer  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

PROBLEM = dimod.BinaryQuadraticModel({"a": 1, ("b", 2): -1}, {("a", ("b", 2)): 0.5}, 0, "SPIN")


def solve(problem: Problem) -> dimod.SampleSet:
    return dimod.ExactSolver().sample(problem.bqm).truncate(problem.reads, sorted_by="energy")


RUN, DESCRIBE = annealing_backend(
    solve, options=("speed",), limits=Limits(variables=4, interactions=5)
)


def make_data(bqm: dimod.BinaryQuadraticModel = PROBLEM, **change: Any) -> dict[str, Any]:
    raw = json.loads(json.dumps(bqm.to_serializable()))
    return {"format": "DIMOD_BQM", "bqm": {**raw, **change}}


def refuse(data: dict[str, Any], **params: Any) -> str:
    with pytest.raises(BackendFailure) as raised:
        RUN(data, params)
    return raised.value.code


@pytest.fixture
def sampler(server: ScriptedServer, config_folder: Path) -> PlatformSampler:
    assert not config_folder.exists()
    described = {"id": "sim.annealing", "status": "ONLINE", **DESCRIBE()}
    server.on("GET /quantum/backends/sim.annealing", Answer(200, described))
    server.on("POST /quantum/jobs", Answer(201, describe_job("COMPLETED")))
    return PlatformSampler(provider=PlatformQuantumProvider(TOKEN, None, server.endpoint))


def test_what_is_no_problem_of_dimod_is_refused_before_it_is_sent(
    server: ScriptedServer, sampler: PlatformSampler
) -> None:
    before = len(server.asked)
    for problem in (None, "a", {"a": 1}, dimod.QuadraticModel()):
        with pytest.raises(InvalidProblemError, match="no binary quadratic model"):
            sampler.sample(problem)  # type: ignore[arg-type]
    with pytest.raises(InvalidProblemError, match="not finite"):
        sampler.sample(dimod.BinaryQuadraticModel({"a": float("nan")}, {}, 0, "SPIN"))
    assert len(server.asked) == before


def test_a_backend_that_is_not_there_is_named_with_those_that_are(
    server: ScriptedServer, config_folder: Path
) -> None:
    assert not config_folder.exists()
    missing = Answer(404, {"code": "BACKEND_NOT_FOUND", "detail": "none"})
    server.on("GET /quantum/backends/sim.anealing", missing)
    described = {"id": "sim.annealing", "status": "ONLINE", **DESCRIBE()}
    server.on("GET /quantum/backends", Answer(200, [described]))
    with pytest.raises(BackendNotFoundError, match=r"There is: sim\.annealing"):
        PlatformSampler("sim.anealing", PlatformQuantumProvider(TOKEN, None, server.endpoint))


def test_a_problem_is_sent_and_its_samples_come_back(
    server: ScriptedServer, sampler: PlatformSampler
) -> None:
    answer = json.loads(json.dumps(RUN(make_data(), {"shots": 2, "seed": 1})))
    server.on(f"GET /quantum/jobs/{JOB}/result", Answer(200, answer))
    found = sampler.sample(PROBLEM, num_reads=2, seed=1, tags=["t"])
    assert found.first.sample == {"a": -1, ("b", 2): 1}
    assert len(found) == 2
    assert found.info["job_id"] == JOB
    body = server.asked[1].body
    assert (body["shots"], body["input_params"]) == (2, {"seed": 1})
    assert body["input_format"] == "DIMOD_BQM"
    assert RUN({"format": "DIMOD_BQM", **body["input"]}, {"shots": 2, "seed": 1})["sampleset"]


def test_budget_cache_session_and_dry_run_are_those_of_any_job(
    server: ScriptedServer, sampler: PlatformSampler
) -> None:
    described = {"id": "sim.annealing", "status": "ONLINE", **DESCRIBE()}
    answer_all(server, described, json.loads(json.dumps(RUN(make_data(), {"seed": 7}))))
    session = sampler.open_session(60)
    sampler.sample(PROBLEM, session=session, idempotency_key="k", **OPTIONS)
    check_started(server, "s-1")
    assert read_key(server) == "k"
    with pytest.raises(InvalidProblemError, match=r"estimate\(\)"):
        sampler.sample(PROBLEM, dry_run=True)
    answer_all(server, described, ESTIMATE)
    check_estimated(server, sampler.estimate(PROBLEM, num_reads=3, **OPTIONS))


def test_a_price_is_described() -> None:
    price = {"currency": "EUR", "perJob": "0.3"}
    assert annealing_backend(solve, price=price)[1]()["price"] == price
    assert "price" not in DESCRIBE()


def test_a_sampler_says_what_it_takes(sampler: PlatformSampler) -> None:
    assert {"num_reads", "seed", "speed", "max_cost", "session", "cache"} <= set(sampler.parameters)
    assert sampler.properties["variable_count"] == 4


def test_a_backend_that_does_not_anneal_is_refused(
    server: ScriptedServer, config_folder: Path
) -> None:
    assert not config_folder.exists()
    server.on("GET /quantum/backends/x", Answer(200, {"id": "x", "configuration": {}}))
    with pytest.raises(InvalidProblemError, match="does not anneal"):
        PlatformSampler("x", PlatformQuantumProvider(TOKEN, None, server.endpoint))


def test_samplers_of_dwave_run_in_this_process_and_need_no_token(config_folder: Path) -> None:
    need_packages("dwave")
    assert not config_folder.exists()
    sampler = PlatformDwaveProvider().get_sampler("SimulatedAnnealingSampler")
    assert sampler.sample(PROBLEM, num_reads=3, seed=1).first.energy == -2.5


def test_other_names_ask_the_platform(server: ScriptedServer, config_folder: Path) -> None:
    assert not config_folder.exists()
    described = {"id": "sim.annealing", **DESCRIBE()}
    server.on("GET /quantum/backends/sim.annealing", Answer(200, described))
    found = PlatformDwaveProvider(TOKEN, None, server.endpoint).get_sampler("sim.annealing")
    assert isinstance(found, PlatformSampler)


def test_a_rehearsal_samples_nothing() -> None:
    assert RUN(make_data(), {"shots": 1, "dry_run": True}) == {"valid": True, "warnings": []}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"num_variables": 10**9}, "CIRCUIT_TOO_LARGE"),
        ({"num_interactions": 10**9}, "CIRCUIT_TOO_LARGE"),
        ({"num_variables": "many"}, "CIRCUIT_INVALID"),
        ({"num_variables": 3}, "CIRCUIT_INVALID"),
        ({"quadratic_head": [2**31 - 1]}, "CIRCUIT_INVALID"),
        ({"quadratic_tail": [-1]}, "CIRCUIT_INVALID"),
        ({"quadratic_tail": [0, 1]}, "CIRCUIT_INVALID"),
        ({"linear_biases": [1.0]}, "CIRCUIT_INVALID"),
        ({"linear_biases": ["x", 1]}, "CIRCUIT_INVALID"),
        ({"linear_biases": [float("nan"), 1.0]}, "CIRCUIT_INVALID"),
        ({"linear_biases": [1e308, 1e308]}, "CIRCUIT_INVALID"),
        ({"variable_labels": ["a", "a"]}, "CIRCUIT_INVALID"),
        ({"variable_labels": [{}, "a"]}, "CIRCUIT_INVALID"),
        ({"variable_type": "QUTRIT"}, "CIRCUIT_INVALID"),
        ({"use_bytes": True}, "CIRCUIT_INVALID"),
        ({"version": {"bqm_schema": "1.0.0"}}, "CIRCUIT_INVALID"),
    ],
)
def test_a_hostile_problem_has_a_code(change: dict[str, Any], code: str) -> None:
    assert refuse(make_data(**change), shots=1) == code


@pytest.mark.parametrize(
    ("data", "params", "code"),
    [
        ({"format": "QISKIT_QPY"}, {}, "CIRCUIT_FORMAT_UNSUPPORTED"),
        ({"format": "DIMOD_BQM"}, {}, "INVALID_INPUT"),
        (make_data(), {"shots": 0}, "SHOTS_OUT_OF_RANGE"),
        (make_data(), {"shots": 10_001}, "SHOTS_OUT_OF_RANGE"),
        (make_data(), {"seed": -1}, "INVALID_INPUT"),
        (make_data(), {"speed": [{"a": float("inf")}]}, "INVALID_INPUT"),
        (make_data(), {"colour": "red"}, "INVALID_INPUT"),
    ],
)
def test_what_is_out_of_range_has_a_code(
    data: dict[str, Any], params: dict[str, Any], code: str
) -> None:
    assert refuse(data, **params) == code
