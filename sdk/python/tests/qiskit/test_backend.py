"""A backend for Qiskit: what it sends, what it refuses, what it knows."""

from __future__ import annotations

import base64
import json
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

import numpy as np  # noqa: E402
from qiskit import QuantumCircuit, qasm3, transpile  # noqa: E402
from qiskit.circuit import Parameter  # noqa: E402
from qiskit.providers import JobStatus  # noqa: E402
from qiskit.qpy import common  # noqa: E402

from platform_quantum import (  # noqa: E402
    InvalidProblemError,
    PlatformQuantumProvider,
    SamplerV2,
)
from platform_quantum.backend import Limits  # noqa: E402
from platform_quantum.backend.decode import Decoder  # noqa: E402
from platform_quantum.models import BackendInfo  # noqa: E402
from platform_quantum.qiskit.transport import choose_transport  # noqa: E402

from ..conftest import TOKEN  # noqa: E402
from ..support.descriptions import JOB, describe_backend, describe_job  # noqa: E402
from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz, read_header  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from platform_quantum import PlatformBackend


@pytest.fixture
def provider(server: ScriptedServer, config_folder: Path) -> PlatformQuantumProvider:
    assert not config_folder.exists()
    server.on("POST /quantum/jobs", Answer(201, describe_job("PENDING")))
    return PlatformQuantumProvider(TOKEN, None, server.endpoint)


def open_backend(
    server: ScriptedServer, provider: PlatformQuantumProvider, **more: Any
) -> PlatformBackend:
    server.on("GET /quantum/backends/sim.test", Answer(200, describe_backend(**more)))
    return provider.get_backend("sim.test")


@pytest.fixture
def backend(server: ScriptedServer, provider: PlatformQuantumProvider) -> PlatformBackend:
    return open_backend(server, provider)


def read_body(server: ScriptedServer) -> dict[str, Any]:
    body: dict[str, Any] = server.asked[-1].body
    return body


def test_a_job_has_what_the_platform_expects(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    circuit = make_ghz(3)
    circuit.name = "three"
    circuit.metadata = {"no json": object()}
    backend.run(circuit, shots=7, seed=np.int64(5), tags=("a", "b"), name="n", session="s")
    body = read_body(server)
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
    assert read_body(server)["input_params"] == {"seed": 9, "method": "statevector"}
    backend.run(make_ghz(2), seed_simulator=None)
    assert read_body(server)["input_params"] == {}


def test_a_whole_number_may_be_of_any_kind(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    for shots in (1_000, 1e3, np.int64(1_000)):
        backend.run(make_ghz(2), shots=shots)  # type: ignore[arg-type]
        assert read_body(server)["shots"] == 1_000


def test_options_that_were_set_hold_until_a_run_names_others(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    assert backend.options.shots == 1024
    backend.set_options(shots=50, seed=1)
    backend.run(make_ghz(2))
    assert (read_body(server)["shots"], read_body(server)["input_params"]) == (50, {"seed": 1})
    backend.run(make_ghz(2), shots=60, seed=2)
    assert (read_body(server)["shots"], read_body(server)["input_params"]) == (60, {"seed": 2})


def test_an_option_that_is_no_json_is_refused_before_it_is_sent(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    before = len(server.asked)
    with pytest.raises(TypeError, match="not JSON"):
        backend.run(make_ghz(2), noise=object())
    assert len(server.asked) == before


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ({"min": 13, "max": 13}, 13),
        ({"min": 13, "max": 99}, common.QPY_VERSION),
        ({"min": 13, "max": 12}, None),
        ({"min": 99, "max": 120}, None),
        ({}, None),
    ],
)
def test_qpy_is_of_the_newest_version_that_both_know(
    theirs: dict[str, int], expected: int | None
) -> None:
    info = BackendInfo.from_dict(describe_backend(qpy=theirs))
    chosen = choose_transport(info)
    assert chosen.qpy_version == expected
    assert chosen.format == ("OPEN_QASM_V3" if expected is None else "QISKIT_QPY")


def test_a_server_that_reads_no_qpy_of_ours_gets_openqasm_3(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, qpy={"min": 1, "max": 12})
    backend.run(make_ghz(2))
    body = read_body(server)
    assert body["input_format"] == "OPEN_QASM_V3"
    assert qasm3.loads(body["input"]["pubs"][0]["circuit"]).count_ops() == make_ghz(2).count_ops()


def test_a_transport_can_be_wanted_and_has_to_be_known(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, supported_input_formats=["OPEN_QASM_V2"])
    backend.run(make_ghz(2))
    assert read_body(server)["input_format"] == "OPEN_QASM_V2"
    with pytest.raises(InvalidProblemError, match="OPEN_QASM_V2"):
        backend.run(make_ghz(2), transport="qasm3")


def test_qpy_of_the_wanted_version_is_written(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, qpy={"min": 13, "max": 13})
    backend.run(make_ghz(2))
    content = zlib.decompress(base64.b64decode(read_body(server)["input"]["pubs"][0]["circuit"]))
    assert content[:7] == b"QISKIT\x0d"


def make_sweep() -> QuantumCircuit:
    angles = [Parameter("angle"), Parameter("θ[1]")]
    circuit = QuantumCircuit(2)
    for qubit, angle in enumerate(angles):
        circuit.rx(angle, qubit)
    circuit.measure_all()
    return circuit


@pytest.mark.parametrize("transport", ["qpy", "qasm3"])
@pytest.mark.parametrize("make", [lambda: make_ghz(3), make_sweep])
def test_circuits_that_do_the_same_are_the_same_bytes(
    server: ScriptedServer, backend: PlatformBackend, make: Any, transport: str
) -> None:
    bodies = []
    for _ in range(2):
        circuit = make()
        values = [0.5] * circuit.num_parameters
        SamplerV2(backend, {"transport": transport}).run([(circuit, values)], shots=3)
        bodies.append(read_body(server))
    assert bodies[0] == bodies[1]


def test_parameters_of_any_name_are_read_in_any_format(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    for transport, names in (
        ("qpy", ["angle", "θ[1]"]),
        ("qasm3", ["parameter_0", "parameter_1"]),
    ):
        sampler = SamplerV2(backend, {"transport": transport})
        sampler.run([(make_sweep(), [0.25, 0.5])], shots=3)
        body = read_body(server)
        (pub,) = body["input"]["pubs"]
        sent = Decoder(body["input_format"], Limits()).decode(pub["circuit"])
        assert sorted(parameter.name for parameter in sent.parameters) == names
        assert pub["parameters"]["names"] == names


def test_a_circuit_keeps_the_name_that_it_has_here(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    circuit = make_ghz(2)
    name = circuit.name
    backend.run([circuit, make_ghz(2)])
    assert [pub["name"] for pub in read_body(server)["input"]["pubs"]] == [
        "circuit-0",
        "circuit-1",
    ]
    assert circuit.name == name


def test_what_cannot_be_written_in_a_format_is_told(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(1, 1)
    with circuit.while_loop((circuit.clbits[0], 0)):
        circuit.h(0)
        circuit.measure(0, 0)
    with pytest.raises(InvalidProblemError, match="OPEN_QASM_V2"):
        backend.run(circuit, transport="qasm2")


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
        {"end": ["2026-11-27 09:00:00"]},
    ]


def test_a_fully_connected_circuit_keeps_its_width(backend: PlatformBackend) -> None:
    assert transpile(make_ghz(2), backend).num_qubits == 2


def test_a_job_says_what_it_is_and_is_no_other_than_the_platform_says(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    job = backend.run(make_ghz(2))
    more = {"queue_position": 3, "cost": 1.5, "digest": "d"}
    path = f"GET /quantum/jobs/{JOB}"
    states = ("PENDING", "RUNNING", "NEW", "CANCELLED")
    server.on(path, *(Answer(200, describe_job(state, **more)) for state in states))
    assert job.job_id() == job.id == JOB
    assert job.backend() is backend
    assert [job.status() for _ in states] == [
        JobStatus.QUEUED,
        JobStatus.RUNNING,
        JobStatus.INITIALIZING,
        JobStatus.CANCELLED,
    ]
    assert (job.queue_position(), job.cost, job.digest, job.shots) == (3, 1.5, "d", 100)
    assert job.in_final_state()
    assert TOKEN not in repr(job)


def test_lists_of_jobs_are_fetched_as_they_are_asked_for(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    def page(first: int, last: bool) -> Answer:
        jobs = [{**describe_job("COMPLETED"), "id": f"{first + n}"} for n in range(50)]
        return Answer(200, {"content": jobs, "last": last})

    # One has started meanwhile: the last one of the first page stands on the second one again.
    server.on("GET /quantum/jobs", page(0, False), page(49, True))
    jobs = provider.jobs(limit=None, tags=["a", "b"], status="COMPLETED")
    assert server.asked == []
    assert [next(jobs).id for _ in range(50)] == [str(n) for n in range(50)]
    assert len(server.asked) == 1
    assert [job.id for job in jobs] == [str(n) for n in range(50, 99)]
    assert server.asked[0].path == "/quantum/jobs?status=COMPLETED&tag=a&tag=b&page=0&size=50"


def test_a_limit_bounds_what_is_fetched(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    jobs = [{**describe_job("COMPLETED"), "id": f"{n}"} for n in range(3)]
    server.on("GET /quantum/jobs", Answer(200, {"content": jobs, "last": False}))
    assert len(list(provider.jobs(limit=2))) == 2
    assert list(provider.jobs(limit=0)) == list(provider.jobs(limit=-1)) == []
    assert len(server.asked) == 1


def test_a_result_is_that_of_the_job(server: ScriptedServer, backend: PlatformBackend) -> None:
    from platform_quantum.backend.pubs import Pub
    from platform_quantum.backend.registers import describe_pub

    circuit = make_ghz(2)
    circuit.metadata = {"mine": 1}
    pub = describe_pub(Pub(circuit, circuit.name, 4, (), (), ()), [{"11": 4}], 1)
    raw = {"pubs": [pub], "metadata": {"seconds": 0.5}}
    ended = describe_job("COMPLETED", backend_version="7", ended_at="2026-11-28 09:00:01")
    server.on(f"GET /quantum/jobs/{JOB}", Answer(200, ended))
    server.on(f"GET /quantum/jobs/{JOB}/result", Answer(200, json.loads(json.dumps(raw))))
    job = backend.run(circuit)
    result = job.result()
    assert result is job.result()
    assert result.get_counts(circuit) == {"11": 4}
    assert read_header(result)["metadata"] == {"mine": 1}
    assert (result.job_id, result.backend_name, result.backend_version) == (JOB, "sim.test", "7")
