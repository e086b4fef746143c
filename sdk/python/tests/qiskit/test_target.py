"""What Qiskit is told of a backend: gates, coupling, errors, and calibrations of earlier times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import transpile  # noqa: E402

from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402
from .conftest import open_backend  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend, PlatformQuantumProvider


def test_programs_for_older_qiskit_find_their_configuration(backend: PlatformBackend) -> None:
    configuration = backend.configuration()
    assert configuration.backend_version == backend.backend_version == "1.2.3"
    assert (configuration.n_qubits, configuration.max_shots) == (5, 10_000)
    assert configuration.simulator
    assert configuration.coupling_map is None
    assert "cx" in configuration.basis_gates


def test_the_transpiler_knows_gates_coupling_and_errors(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    graph = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    calibration = {
        "qubits": [{"id": "a", "t1": 1e-4, "t2": 2e-4}],
        "gates": [{"name": "cx", "qubits": ["a", "b"], "duration": 3e-7, "error": 0.01}],
    }
    server.on("GET /quantum/backends/sim.test/calibration", Answer(200, calibration))
    backend = open_backend(
        server,
        provider,
        qubit_count=3,
        qubits=[{"id": name} for name in graph],
        connectivity={"fully_connected": False, "graph": graph},
    )
    assert sorted(backend.coupling_map.get_edges()) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert backend.target["cx"][0, 1].error == 0.01
    assert backend.target["cx"][1, 2] is None
    assert backend.target.qubit_properties[0].t2 == 2e-4
    circuit = transpile(make_ghz(3), backend, seed_transpiler=1)
    assert set(circuit.count_ops()) <= {"h", "x", "rz", "cx", "measure", "barrier"}
    assert backend.configuration().coupling_map == [[0, 1], [1, 0], [1, 2], [2, 1]]


def test_a_fully_connected_circuit_keeps_its_width(backend: PlatformBackend) -> None:
    assert transpile(make_ghz(2), backend).num_qubits == 2


def test_a_backend_without_a_calibration_is_a_target_without_errors(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    server.on("GET /quantum/backends/sim.test/calibration", Answer(204))
    backend = open_backend(server, provider, connectivity={"graph": {"0": ["1"], "1": ["0"]}})
    assert backend.calibration() is None
    assert backend.target["cx"][0, 1] is None


def read_query(path: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(path).query)


def test_calibrations_of_earlier_times_are_asked_for_as_of_then_and_page_by_page(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    path = "/quantum/backends/sim.test/calibration"
    server.on(f"GET {path}", Answer(200, {"gates": []}))
    at = datetime(2026, 11, 28, 9, tzinfo=UTC)
    assert backend.calibration(at) == {"gates": []}
    assert read_query(server.asked[-1].path) == {"effectiveAt": ["2026-11-28 09:00:00"]}
    newer = {"backend_version": "1.1.0", "calibrated_at": "2026-11-27 09:00:00"}
    older = {"backend_version": "1.0.0", "calibrated_at": "2026-11-26 09:00:00"}
    server.on(
        f"GET {path}-history",
        Answer(200, {"content": [newer], "last": False}),
        Answer(200, {"content": [older], "last": True}),
    )
    assert list(backend.calibration_history(end=at)) == [newer, older]
    assert [read_query(one.path) for one in server.asked[-2:]] == [
        {"end": ["2026-11-28 09:00:00"]},
        {"end": ["2026-11-28 09:00:00"], "before": ["1.1.0"]},
    ]
