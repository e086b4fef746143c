"""A device for the Amazon Braket SDK, on sim.braket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from .support.needs import need_packages

need_packages("braket.devices", "braket.default_simulator", "qiskit", "qiskit_qasm3_import")

import numpy as np  # noqa: E402
from braket.circuits import Circuit, FreeParameter, Observable  # noqa: E402
from braket.devices import Device  # noqa: E402
from braket.ir.openqasm import Program  # noqa: E402

from platform_quantum import (  # noqa: E402
    InvalidProblemError,
    JobFailedError,
    JobTimeoutError,
    PlatformQuantumProvider,
)
from platform_quantum.braket import PlatformBraketDevice  # noqa: E402

from .conftest import TOKEN  # noqa: E402
from .support.descriptions import JOB, describe_backend, describe_job  # noqa: E402
from .support.entrances import (  # noqa: E402
    ESTIMATE,
    OPTIONS,
    answer_all,
    check_estimated,
    check_started,
    read_key,
)
from .support.running_server import RunningServer  # noqa: E402
from .support.scripted_server import Answer, ScriptedServer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

BELL = Circuit().h(0).cnot(0, 1)


@pytest.fixture(scope="module")
def running() -> Iterator[RunningServer]:
    server = RunningServer("braket")
    yield server
    server.close()


@pytest.fixture(scope="module")
def device(running: RunningServer) -> PlatformBraketDevice:
    return PlatformBraketDevice(
        "sim.braket", PlatformQuantumProvider(TOKEN, None, running.endpoint)
    )


def test_it_is_a_device_with_properties_of_braket(device: PlatformBraketDevice) -> None:
    assert isinstance(device, Device)
    assert (device.name, device.status) == ("sim.braket", "ONLINE")
    assert device.properties.paradigm.qubitCount == 22
    assert "PlatformBraketDevice('sim.braket')" in repr(device)


def test_a_task_is_a_job_that_is_sampled(device: PlatformBraketDevice) -> None:
    task = device.run(BELL, shots=200, seed=1, name="bell", tags=["a"])
    assert task.state() == "COMPLETED"
    result = task.result()
    assert set(result.measurement_counts) == {"00", "11"}
    assert sum(result.measurement_counts.values()) == 200
    assert result.task_metadata.id == task.id
    again = device.retrieve_task(task.id).result()
    assert again.measurement_counts == result.measurement_counts
    flipped = device.run(Circuit().x(0).i(1).i(2), shots=3).result()
    assert flipped.measurement_counts == {"100": 3}


def test_without_shots_the_values_are_exact(device: PlatformBraketDevice) -> None:
    circuit = BELL.copy().state_vector().density_matrix().probability()
    circuit.expectation(Observable.Z() @ Observable.Z(), [0, 1]).amplitude(["11"])
    state, density, shares, expected, amplitude = device.run(circuit).result().values
    assert state == pytest.approx(np.array([1, 0, 0, 1]) / 2**0.5)
    assert density == pytest.approx(np.outer(state, state.conj()))
    assert shares == pytest.approx([0.5, 0, 0, 0.5])
    assert expected == pytest.approx(1)
    assert amplitude["11"] == pytest.approx(0.5**0.5)


def test_values_of_what_is_sampled_come_with_the_result(device: PlatformBraketDevice) -> None:
    asked = Observable.Z() @ Observable.I()
    circuit = Circuit().x(0).i(1).expectation(asked, [0, 1]).sample(Observable.Z(), 1)
    result = device.run(circuit, shots=9).result()
    assert result.values[0] == -1
    assert list(result.values[1]) == [1] * 9


def test_parameters_and_programs_are_run(device: PlatformBraketDevice) -> None:
    circuit = Circuit().rx(0, FreeParameter("theta"))
    result = device.run(circuit, shots=5, inputs={"theta": np.pi}).result()
    assert result.measurement_counts == {"1": 5}
    program = Program(source="OPENQASM 3.0;\nqubit[2] q;\nx q[1];\ni q[0];\n")
    assert device.run(program, shots=5).result().measurement_counts == {"01": 5}
    with pytest.raises(InvalidProblemError, match="theta"):
        device.run(circuit, shots=5)


def test_noise_of_a_circuit_is_simulated(device: PlatformBraketDevice) -> None:
    circuit = Circuit().i(0).bit_flip(0, 0.25)
    ones = device.run(circuit, shots=4_000, seed=1).result().measurement_counts["1"]
    assert 800 < ones < 1_200


def test_a_batch_is_one_job(running: RunningServer, device: PlatformBraketDevice) -> None:
    before = len([asked for asked in running.asked if asked.method == "POST"])
    circuit = Circuit().rx(0, FreeParameter("theta"))
    inputs = [{"theta": 0}, {"theta": np.pi}]
    batch = device.run_batch(circuit, shots=[3, 4], inputs=inputs)
    assert [dict(one.measurement_counts) for one in batch.results()] == [{"0": 3}, {"1": 4}]
    assert len({task.id for task in batch.tasks}) == 2
    assert len([asked for asked in running.asked if asked.method == "POST"]) == before + 1
    with pytest.raises(InvalidProblemError, match="equal in number"):
        device.run_batch([BELL, BELL], shots=[1, 2, 3])
    with pytest.raises(InvalidProblemError, match="101"):
        device.run_batch([BELL] * 101, shots=1)


def test_budget_cache_session_and_dry_run_are_those_of_any_job(
    server: ScriptedServer, running: RunningServer
) -> None:
    assert running.endpoint
    described = describe_backend(supported_input_formats=["BRAKET_OPEN_QASM_V3"])
    answer_all(server, described, ESTIMATE)
    device = PlatformBraketDevice("sim.test", PlatformQuantumProvider(TOKEN, None, server.endpoint))
    session = device.open_session()
    for given in ({"session": session}, {"session": "s-1"}, {"session_id": "s-1"}):
        for start in (device.run, device.run_batch):
            start(BELL, shots=3, idempotency_key="k", **given, **OPTIONS)
            check_started(server, "s-1")
            assert read_key(server) == "k"
    with pytest.raises(InvalidProblemError, match=r"estimate\(\)"):
        device.run(BELL, shots=3, dry_run=True)
    check_estimated(server, device.estimate(BELL, shots=3, **OPTIONS))


def test_a_job_of_the_platform_may_take_longer_than_it_is_waited_for(
    server: ScriptedServer, running: RunningServer
) -> None:
    assert running.endpoint
    described = describe_backend(supported_input_formats=["BRAKET_OPEN_QASM_V3"])
    answer_all(server, described, None)
    for route in ("POST /quantum/jobs", f"GET /quantum/jobs/{JOB}"):
        server.on(route, Answer(201, describe_job("RUNNING")))
    device = PlatformBraketDevice("sim.test", PlatformQuantumProvider(TOKEN, None, server.endpoint))
    with pytest.raises(JobTimeoutError):
        device.run(BELL, shots=3).result(timeout=0.05)
    with pytest.raises(JobTimeoutError):
        device.run_batch([BELL], shots=3).results(timeout=0.05)


def test_sets_of_programs_are_refused_with_what_to_use(device: PlatformBraketDevice) -> None:
    program_sets = pytest.importorskip("braket.program_sets")
    programs = program_sets.ProgramSet([BELL, BELL])
    for run in (device.run, device.estimate):
        with pytest.raises(InvalidProblemError, match=r"ProgramSet.*run_batch"):
            run(programs, shots=10)


def test_a_result_can_be_awaited(device: PlatformBraketDevice) -> None:
    async def wait() -> int:
        result = await device.run(BELL, shots=8).async_result()
        return sum(result.measurement_counts.values())

    assert asyncio.run(wait()) == 8


def test_what_the_backend_would_refuse_is_refused_before_it_is_sent(
    running: RunningServer, device: PlatformBraketDevice
) -> None:
    before = len(running.asked)
    wide = Circuit()
    for qubit in range(23):
        wide.h(qubit)
    for circuit, shots in ((BELL, 0), (wide, 1), (BELL, 10**9), (BELL, -1)):
        with pytest.raises(InvalidProblemError):
            device.run(circuit, shots=shots)
    with pytest.raises(InvalidProblemError, match="no int"):
        device.run(5, shots=1)
    assert len(running.asked) == before


def test_a_failure_is_told_with_its_code(device: PlatformBraketDevice) -> None:
    task = device.run(Program(source="nonsense"), shots=1)
    assert task.state() == "FAILED"
    with pytest.raises(JobFailedError) as raised:
        task.result()
    assert raised.value.code == "CIRCUIT_INVALID"


def test_a_backend_without_the_format_of_braket_is_no_device(
    server: ScriptedServer, running: RunningServer
) -> None:
    assert running.endpoint
    server.on("GET /quantum/backends/sim.test", Answer(200, describe_backend()))
    with pytest.raises(InvalidProblemError, match="reads no programs of Braket"):
        PlatformBraketDevice("sim.test", PlatformQuantumProvider(TOKEN, None, server.endpoint))
