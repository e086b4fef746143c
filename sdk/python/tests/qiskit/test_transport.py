"""In which format circuits are sent: of QPY the newest version that both know."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit, qasm3  # noqa: E402
from qiskit.circuit import Parameter  # noqa: E402
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

from ..support.descriptions import describe_backend  # noqa: E402
from ..support.entrances import read_started  # noqa: E402
from ..support.scripted_server import ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402
from .conftest import open_backend  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend


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


@pytest.mark.parametrize(("said", "expected"), [(True, True), (False, False), (None, False)])
def test_a_backend_says_whether_it_answers_dry_runs(said: bool | None, expected: bool) -> None:
    described = {**describe_backend(), "dry_run": said}
    assert BackendInfo.from_dict(described).dry_run is expected


def test_a_server_that_reads_no_qpy_of_ours_gets_openqasm_3(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, qpy={"min": 1, "max": 12})
    backend.run(make_ghz(2))
    body = read_started(server)
    assert body["input_format"] == "OPEN_QASM_V3"
    assert qasm3.loads(body["input"]["pubs"][0]["circuit"]).count_ops() == make_ghz(2).count_ops()


def test_a_transport_can_be_wanted_and_has_to_be_known(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, supported_input_formats=["OPEN_QASM_V2"])
    backend.run(make_ghz(2))
    assert read_started(server)["input_format"] == "OPEN_QASM_V2"
    with pytest.raises(InvalidProblemError, match="OPEN_QASM_V2"):
        backend.run(make_ghz(2), transport="qasm3")


def test_qpy_of_the_wanted_version_is_written(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    backend = open_backend(server, provider, qpy={"min": 13, "max": 13})
    backend.run(make_ghz(2))
    content = zlib.decompress(base64.b64decode(read_started(server)["input"]["pubs"][0]["circuit"]))
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
        bodies.append(read_started(server))
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
        body = read_started(server)
        (pub,) = body["input"]["pubs"]
        sent = Decoder(body["input_format"], Limits()).decode(pub["circuit"])
        assert sorted(parameter.name for parameter in sent.parameters) == names
        assert pub["parameters"]["names"] == names


def test_what_cannot_be_written_in_a_format_is_told(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(1, 1)
    with circuit.while_loop((circuit.clbits[0], 0)):
        circuit.h(0)
        circuit.measure(0, 0)
    with pytest.raises(InvalidProblemError, match="OPEN_QASM_V2"):
        backend.run(circuit, transport="qasm2")
