"""A backend for Qiskit: what its jobs are started with, and what is refused before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

import numpy as np  # noqa: E402
from qiskit import QuantumCircuit  # noqa: E402
from qiskit.circuit import Parameter  # noqa: E402

from platform_quantum import InvalidProblemError, PlatformQuantumProvider  # noqa: E402
from platform_quantum.backend import Limits  # noqa: E402
from platform_quantum.backend.decode import Decoder  # noqa: E402

from ..support.descriptions import describe_backend  # noqa: E402
from ..support.entrances import read_started  # noqa: E402
from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend


def test_a_job_has_what_the_platform_expects(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    circuit = make_ghz(3)
    circuit.name = "three"
    circuit.metadata = {"no json": object()}
    backend.run(circuit, shots=7, seed=np.int64(5), tags=("a", "b"), name="n", session="s")
    body = read_started(server)
    (pub,) = body["input"].pop("pubs")
    assert body == {
        "backend_id": "sim.test",
        "shots": 7,
        "input": {"primitive": "sampler", "shape": "registers"},
        "input_format": "QISKIT_QPY",
        "input_params": {"seed": 5},
        "name": "n",
        "tags": ["a", "b"],
        "session_id": "s",
        "sdk_provider": "platform-quantum",
    }
    assert pub["name"] == "three"
    sent = Decoder("QISKIT_QPY", Limits()).decode(pub["circuit"])
    assert sent == QuantumCircuit.copy(circuit)
    assert not sent.metadata


def test_what_qiskits_primitives_call_the_seed_is_the_seed(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    backend.run(make_ghz(2), memory=True, shots=1, seed_simulator=9, method="statevector")
    assert read_started(server)["input_params"] == {"seed": 9, "method": "statevector"}
    backend.run(make_ghz(2), seed_simulator=None)
    assert read_started(server)["input_params"] == {}


def test_a_whole_number_may_be_of_any_kind(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    for shots in (1_000, 1e3, np.int64(1_000)):
        backend.run(make_ghz(2), shots=shots)  # type: ignore[arg-type]
        assert read_started(server)["shots"] == 1_000


def test_options_that_were_set_hold_until_a_run_names_others(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    assert backend.options.shots == 1024
    backend.set_options(shots=50, seed=1)
    backend.run(make_ghz(2))
    assert (read_started(server)["shots"], read_started(server)["input_params"]) == (
        50,
        {"seed": 1},
    )
    backend.run(make_ghz(2), shots=60, seed=2)
    assert (read_started(server)["shots"], read_started(server)["input_params"]) == (
        60,
        {"seed": 2},
    )


def test_a_circuit_keeps_the_name_that_it_has_here(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    circuit = make_ghz(2)
    name = circuit.name
    backend.run([circuit, make_ghz(2)])
    assert [pub["name"] for pub in read_started(server)["input"]["pubs"]] == [
        "circuit-0",
        "circuit-1",
    ]
    assert circuit.name == name


def test_an_option_that_is_no_json_is_refused_before_it_is_sent(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    before = len(server.asked)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for noise in (object(), b"x", {(1, 2): 3}, float("nan"), deep):
        with pytest.raises(InvalidProblemError, match="option"):
            backend.run(make_ghz(2), noise=noise)
    assert len(server.asked) == before


def refused() -> dict[str, tuple[Any, dict[str, Any], str]]:
    unbound = QuantumCircuit(1, 1)
    unbound.rx(Parameter("angle"), 0)
    return {
        "too wide": (make_ghz(6), {}, "6 qubits"),
        "parameters": (unbound, {}, "angle"),
        "nothing measured": (QuantumCircuit(1), {}, "measure_all"),
        "no circuit": ("OPENQASM 3", {}, "is no circuit"),
        "no circuit either": (5, {}, "is no circuit"),
        "none at all": ([], {}, "no circuit"),
        "too many": ([make_ghz(2)] * 4, {}, "3 circuits"),
        "no shots": (make_ghz(2), {"shots": 0}, "shots"),
        "too many shots": (make_ghz(2), {"shots": 10_001}, "10000"),
        "half a shot": (make_ghz(2), {"shots": 1.5}, "whole number"),
        "no number of shots": (make_ghz(2), {"shots": float("nan")}, "whole number"),
        "shots in words": (make_ghz(2), {"shots": "many"}, "whole number"),
        "a tag alone": (make_ghz(2), {"tags": "bell"}, "tags must be a list"),
        "a cost in words": (make_ghz(2), {"max_cost": "much"}, "An amount"),
        "a cost below nothing": (make_ghz(2), {"max_cost": -1}, "An amount"),
        "a cost that is none": (make_ghz(2), {"max_cost": float("nan")}, "An amount"),
        "no transport": (make_ghz(2), {"transport": "post"}, "transport must be"),
        "an infinite option": (make_ghz(2), {"seed": float("inf")}, "finite"),
    }


@pytest.mark.parametrize("name", refused())
def test_what_would_be_refused_is_not_sent(
    server: ScriptedServer, backend: PlatformBackend, name: str
) -> None:
    circuits, options, reason = refused()[name]
    before = len(server.asked)
    with pytest.raises(InvalidProblemError, match=reason):
        backend.run(circuits, **options)
    assert len(server.asked) == before


@pytest.mark.parametrize("name", ["", ".", "..", None, 5])
def test_what_is_no_id_is_refused_and_asks_for_nothing(
    server: ScriptedServer, provider: PlatformQuantumProvider, name: Any
) -> None:
    for ask in (provider.get_backend, provider.retrieve_job):
        with pytest.raises(InvalidProblemError, match="An id is a text"):
            ask(name)
    assert server.asked == []


@pytest.mark.parametrize("timeout", [float("nan"), "1", []])
def test_a_time_that_is_none_is_not_waited_for(backend: PlatformBackend, timeout: Any) -> None:
    with pytest.raises(InvalidProblemError, match="number of seconds"):
        backend.run(make_ghz(2)).result(timeout)


def test_an_annealer_is_refused_with_what_to_use(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    annealer = {**describe_backend(), "type": "ANNEALER"}
    server.on("GET /quantum/backends/sim.test", Answer(200, annealer))
    with pytest.raises(InvalidProblemError, match="PlatformSampler"):
        provider.get_backend("sim.test")
