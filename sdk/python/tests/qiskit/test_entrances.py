"""Budget, cache, session and dry run: by `run`, by samplers, by estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit  # noqa: E402

from platform_quantum import (  # noqa: E402
    Estimate,
    EstimatorV2,
    InvalidProblemError,
    PlatformQuantumProvider,
    SamplerV2,
    Session,
)

from ..support.descriptions import describe_backend  # noqa: E402
from ..support.entrances import (  # noqa: E402
    ESTIMATE,
    OPTIONS,
    answer_all,
    check_estimated,
    check_started,
    read_key,
    read_started,
)
from ..support.scripted_server import ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from platform_quantum import PlatformBackend


@pytest.fixture
def backend(server: ScriptedServer, provider: PlatformQuantumProvider) -> PlatformBackend:
    answer_all(server, describe_backend(operations=["method"]), ESTIMATE)
    return provider.get_backend("sim.test")


def run(backend: PlatformBackend, options: dict[str, Any]) -> None:
    backend.run(make_ghz(2), **options)


def sample(backend: PlatformBackend, options: dict[str, Any]) -> None:
    SamplerV2(backend, options).run([make_ghz(2)])


def expect(backend: PlatformBackend, options: dict[str, Any]) -> None:
    EstimatorV2(backend, options).run([(QuantumCircuit(1), "Z")])


def estimate_run(backend: PlatformBackend, options: dict[str, Any]) -> Estimate:
    return backend.estimate(make_ghz(2), **options)


def estimate_samples(backend: PlatformBackend, options: dict[str, Any]) -> Estimate:
    return SamplerV2(backend, options).estimate([make_ghz(2)], shots=5)


def estimate_values(backend: PlatformBackend, options: dict[str, Any]) -> Estimate:
    return EstimatorV2(backend, options).estimate([(QuantumCircuit(1), "Z")])


@pytest.mark.parametrize("start", [run, sample, expect])
def test_all_options_are_sent_as_they_are_meant(
    server: ScriptedServer,
    backend: PlatformBackend,
    start: Callable[[PlatformBackend, dict[str, Any]], None],
) -> None:
    for given in (backend.open_session(), "s-1"):
        start(backend, {**OPTIONS, "session": given, "idempotency_key": "k"})
        check_started(server, "s-1")
        assert read_key(server) == "k"


@pytest.mark.parametrize("start", [run, sample, expect])
def test_options_of_the_backend_hold_everywhere(
    server: ScriptedServer,
    backend: PlatformBackend,
    start: Callable[[PlatformBackend, dict[str, Any]], None],
) -> None:
    own = backend.with_options(**OPTIONS, method="statevector")
    start(own, {})
    assert read_started(server)["input_params"] == {"seed": 7, "method": "statevector"}
    start(own, {"method": None})
    check_started(server)
    start(backend, {})
    assert "max_cost" not in read_started(server)


@pytest.mark.parametrize("ask", [estimate_run, estimate_samples, estimate_values])
def test_what_a_job_would_cost_is_asked_by_a_dry_run(
    server: ScriptedServer,
    backend: PlatformBackend,
    ask: Callable[[PlatformBackend, dict[str, Any]], Estimate],
) -> None:
    check_estimated(server, ask(backend, OPTIONS))


@pytest.mark.parametrize("start", [run, sample, expect])
def test_a_dry_run_is_no_job_with_a_result(
    server: ScriptedServer,
    backend: PlatformBackend,
    start: Callable[[PlatformBackend, dict[str, Any]], None],
) -> None:
    before = len(server.asked)
    with pytest.raises(InvalidProblemError, match=r"estimate\(\)"):
        start(backend, {"dry_run": True})
    assert len(server.asked) == before
    start(backend, {"dry_run": False})
    assert "dry_run" not in read_started(server)


@pytest.mark.parametrize("start", [sample, expect])
def test_a_session_stands_for_its_backend(
    server: ScriptedServer, backend: PlatformBackend, start: Any
) -> None:
    with backend.open_session() as session:
        start(session, OPTIONS)
        check_started(server, "s-1")
    unknown = Session(backend.provider.api, {"id": "s-2"})
    with pytest.raises(InvalidProblemError, match="not opened by a backend"):
        start(unknown, OPTIONS)


@pytest.mark.parametrize("kind", [SamplerV2, EstimatorV2])
@pytest.mark.parametrize("mode", [None, "sim.test"])
def test_what_is_no_backend_is_refused_where_it_is_given(kind: Any, mode: Any) -> None:
    with pytest.raises(InvalidProblemError, match="get_backend"):
        kind(mode)


def test_a_sampler_checks_what_the_backend_was_set_to(backend: PlatformBackend) -> None:
    backend.info.configuration["method_qubits"] = {"stabilizer": 60}
    with pytest.raises(InvalidProblemError, match="60 qubits"):
        SamplerV2(backend).run([make_ghz(60)])
    SamplerV2(backend.with_options(method="stabilizer")).run([make_ghz(60)])


def test_shots_of_the_backend_are_those_of_its_samplers(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    SamplerV2(backend.with_options(shots=9)).run([make_ghz(2)])
    assert read_started(server)["shots"] == 9
