"""What programs that use qhub-quantum do, as it is published. Prints what came of it, as JSON."""

import json
import time

from braket.circuits import Circuit
from qhub.quantum.sdk import HubBraketProvider, HubQiskitProvider
from qhub.quantum.sdk.client_factory import create_hub_client
from qhub.quantum.sdk.exceptions import HubApiError
from qiskit import QuantumCircuit, qasm2, transpile
from qiskit.primitives import BackendSamplerV2

SHOTS = 50
# What the SDK sleeps between two questions for the state of a job.
pauses = []
sleep = time.sleep
time.sleep = lambda seconds: (pauses.append(seconds), sleep(seconds))

provider = HubQiskitProvider()


def turn(qubit):
    circuit = QuantumCircuit(3, 3)
    circuit.x(qubit)
    circuit.measure(range(3), range(3))
    return circuit


def run(backend):
    pauses.clear()
    job = backend.run(transpile(turn(0), backend), shots=SHOTS)
    return job, job.result().get_counts(), len(pauses)


def refuse(ask):
    try:
        ask()
    except HubApiError as error:
        return error.status_code
    return None


def use_session(client):
    session = client.sessions.create_session(
        backend_id="qudora.sim.xg1", mode="dedicated", provider="QUDORA", ttl=600
    )
    state = {"opened": session.status}
    job = client.jobs.create_job(
        backend_id="qudora.sim.xg1",
        shots=SHOTS,
        input=qasm2.dumps(turn(0)),
        input_format="OPEN_QASM_V2",
        session_id=session.id,
    )
    state["counts"] = provider.retrieve_job(job.id).result().get_counts()
    state["named"] = client.jobs.get_job(job.id).session_id == session.id
    state["used"] = client.sessions.get_session_status(session.id).status
    state["drained"] = client.sessions.update_session_state(session.id, accept_jobs=False).status
    client.sessions.close_session(session.id)
    return {**state, "closed": client.sessions.get_session(session.id).status}


NAMES = ("azure.ionq.simulator", "qudora.sim.xg1", "kipu.sim.qsim", "aws.sim.sv1", "aws.sim.dm1")
counts, slept, last = {}, [], None
for name in NAMES:
    backend = provider.get_backend(name)
    # The first one may wait for its process.
    for _ in range(3):
        last, counts[name], count = run(backend)
        slept.append(count)
several = provider.get_backend("qudora.sim.xg1").run([turn(0), turn(2)], shots=SHOTS).result()
devices = HubBraketProvider()


def measure(name, circuit):
    task = devices.get_device(name).run(circuit, shots=SHOTS)
    return dict(task.result().measurement_counts)


sampler = BackendSamplerV2(backend=provider.get_backend("azure.ionq.simulator"))
(sampled,) = sampler.run([turn(0)], shots=SHOTS).result()
print(
    json.dumps(
        {
            "counts": counts,
            "batch": [several.get_counts(index) for index in range(2)],
            "braket": measure("aws.sim.sv1", Circuit().x(0).i(1).i(2)),
            # Noise is what a density matrix is for.
            "noise": measure("aws.sim.dm1", Circuit().x(0).amplitude_damping(0, 1.0).x(1)),
            "sampler": sampled.data.c.get_counts(),
            "again": provider.retrieve_job(last.id).result().get_counts() == counts["aws.sim.dm1"],
            "listed": len(provider.jobs()) > 0,
            "pauses": min(slept),
            "session": use_session(create_hub_client()),
            "refused": {
                "token": refuse(lambda: HubQiskitProvider("nobody").get_backend("sim.statevector")),
                "backend": refuse(lambda: provider.get_backend("azure.nothing.there")),
            },
        }
    )
)
