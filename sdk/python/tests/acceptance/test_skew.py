"""Clients and backends of different ages: QPY of a version that both know, else OpenQASM 3.

`sim.older` is the simulator of states, but for QPY of versions that no Qiskit writes any more, and
a price (`tests/quantum/variant.ts`).
"""

from __future__ import annotations

import base64
import uuid
import zlib
from decimal import Decimal
from typing import Any

import pytest

from .live import connect

# isort: split
import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Instruction, Parameter
from qiskit.qpy import common

from platform_quantum import (
    ApiError,
    EstimatorV2,
    InvalidProblemError,
    PlatformBackend,
    PlatformQuantumProvider,
    RemoteJob,
    SamplerV2,
)

from ..support.wire import make_condition, make_ghz

OLDER = "sim.older"


@pytest.fixture(scope="module")
def provider() -> PlatformQuantumProvider:
    return connect()


@pytest.fixture(scope="module")
def older(provider: PlatformQuantumProvider) -> PlatformBackend:
    if OLDER not in provider.backends():
        pytest.skip(f"no platform with {OLDER}: tests/quantum/platform.test.ts deploys it")
    return provider.get_backend(OLDER)


def make_rotation() -> QuantumCircuit:
    circuit = QuantumCircuit(2)
    circuit.rx(Parameter("angle"), 0)
    return circuit


def read_format(remote: RemoteJob) -> str:
    name: str = remote.known.raw["input_format"]
    return name


def test_qpy_is_of_the_newest_version_that_both_know(provider: PlatformQuantumProvider) -> None:
    backend = provider.get_backend("sim.statevector")
    job = backend.run(make_ghz(2), shots=1)
    sent: Any = provider.api.get_job_part(job.id, "input")
    content = zlib.decompress(base64.b64decode(sent["pubs"][0]["circuit"]))
    newest = min(common.QPY_VERSION, backend.info.configuration["qpy"]["max"])
    assert content[:7] == b"QISKIT" + bytes([newest])
    assert set(job.result().get_counts()) <= {"00", "11"}


def test_circuits_of_published_sdks_are_read(provider: PlatformQuantumProvider) -> None:
    gates = [{"gate": "x", "targets": [0]}, {"gate": "h", "targets": [2]}]
    body = {
        "backend_id": "sim.statevector",
        "input": {"gateset": "qis", "qubits": 3, "circuit": gates},
        "input_format": "IONQ_CIRCUIT_V1",
        "input_params": {"meas_map": [0, 1, 2]},
        "shots": 100,
    }
    found = RemoteJob(provider.api, provider.api.start_job(body)).raw_result()
    assert set(found["histogram"]) == {"1", "5"}
    dry = RemoteJob(provider.api, provider.api.start_job({**body, "dry_run": True})).raw_result()
    assert dry["valid"] is True


def test_a_backend_that_reads_no_such_qpy_gets_openqasm(older: PlatformBackend) -> None:
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.measure(range(3), range(3))
    job = older.run(circuit, shots=7)
    assert job.result().get_counts() == {"001": 7}
    assert read_format(job.remote) == "OPEN_QASM_V3"


def test_conditions_survive(older: PlatformBackend) -> None:
    assert older.run(make_condition(), shots=5).result().get_counts() == {"11": 5}


def test_sweeps_survive(older: PlatformBackend) -> None:
    angles = np.array([0, np.pi])
    values = EstimatorV2(older).run([(make_rotation(), "IZ", angles)])
    (found,) = values.result()
    assert found.data.evs == pytest.approx([1, -1])
    circuit = make_rotation()
    circuit.measure_all()
    sampled = SamplerV2(older).run([(circuit, angles)], shots=4)
    (found,) = sampled.result()
    assert [found.data.meas.get_counts(at) for at in range(2)] == [{"00": 4}, {"01": 4}]
    assert {read_format(job.remote) for job in (values, sampled)} == {"OPEN_QASM_V3"}


def test_what_cannot_be_sent_is_told_before_anything_is(
    provider: PlatformQuantumProvider, older: PlatformBackend
) -> None:
    tag = f"skew-{uuid.uuid4()}"
    with pytest.raises(InvalidProblemError, match="OPEN_QASM_V3"):
        older.run(make_ghz(2), transport="qpy", tags=[tag])
    opaque = QuantumCircuit(1, 1)
    opaque.append(Instruction("mystery", 1, 0, []), [0])
    opaque.measure(0, 0)
    with pytest.raises(InvalidProblemError, match="cannot be written as OPEN_QASM_V3"):
        older.run(opaque, tags=[tag])
    assert list(provider.jobs(tags=[tag])) == []
    older.run(make_ghz(2), shots=1, tags=[tag]).result()
    assert len(list(provider.jobs(tags=[tag]))) == 1


def test_a_job_that_may_cost_more_is_refused_by_every_entrance(older: PlatformBackend) -> None:
    starts = (
        lambda most: older.run(make_ghz(2), max_cost=most),
        lambda most: SamplerV2(older, {"max_cost": most}).run([make_ghz(2)]),
        lambda most: EstimatorV2(older, {"max_cost": most}).run([(QuantumCircuit(1), "Z")]),
    )
    for start in starts:
        with pytest.raises(ApiError) as raised:
            start("0.49")
        assert raised.value.code == "MAX_COST_EXCEEDED"
        job = start(0.5)
        job.result()
        assert job.remote.cost == Decimal("0.5")


def test_what_a_job_costs_is_told_by_every_entrance(older: PlatformBackend) -> None:
    for found in (
        older.estimate(make_ghz(2)),
        SamplerV2(older).estimate([make_ghz(2)]),
        EstimatorV2(older).estimate([(QuantumCircuit(1), "Z")]),
    ):
        assert (found.valid, found.cost, found.currency) == (True, Decimal("0.5"), "EUR")
