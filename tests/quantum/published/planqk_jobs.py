"""What programs that use planqk-quantum do, as it is published. Prints what came of it, as JSON."""

import json
import time

from planqk.quantum.sdk import PlanqkQuantumProvider
from planqk.quantum.sdk.client.job_dtos import JobDto
from planqk.quantum.sdk.exceptions import InvalidAccessTokenError
from qiskit import QuantumCircuit, transpile

# What the SDK sleeps between two questions for the state of a job.
pauses = []
sleep = time.sleep
time.sleep = lambda seconds: (pauses.append(seconds), sleep(seconds))

provider = PlanqkQuantumProvider()
backend = provider.get_backend("azure.ionq.simulator")

bell = QuantumCircuit(2)
bell.h(0)
bell.cx(0, 1)
bell.measure_all()

turned = QuantumCircuit(3)
turned.x(0)
turned.measure_all()


def run(circuit, shots):
    pauses.clear()
    job = backend.run(transpile(circuit, backend), shots=shots)
    return job, job.result().get_counts(), len(pauses)


def use_session(client):
    session = client.create_session("azure.ionq.simulator", "AZURE", "dedicated", ttl=600)
    state = {"opened": session.status.value}
    sent = client.submit_job(
        JobDto(
            provider="AZURE",
            backend_id="azure.ionq.simulator",
            shots=10,
            session_id=session.id,
            input={"gateset": "qis", "qubits": 1, "circuit": [{"gate": "x", "targets": [0]}]},
            input_format="IONQ_CIRCUIT_V1",
            input_params={"meas_map": [0]},
        )
    )
    state["counts"] = backend.retrieve_job(sent.id).result().get_counts()
    state["named"] = client.get_job(sent.id).session_id == session.id
    state["used"] = client.get_session(session.id).status.value
    client.close_session(session.id)
    state["drained"] = client.get_session(session.id).status.value
    client.cancel_session(session.id)
    return {**state, "cancelled": client.get_session(session.id).status.value}


runs = [run(bell, 1000) for _ in range(4)]
job, counts, _ = runs[-1]
_, one, _ = run(turned, 50)
again = backend.retrieve_job(job.id)
try:
    PlanqkQuantumProvider(access_token="nobody").get_backend("azure.ionq.simulator")
    refusal = None
except InvalidAccessTokenError:
    refusal = "InvalidAccessTokenError"
print(
    json.dumps(
        {
            "ids": "azure.ionq.simulator" in provider.backends(),
            "bell": counts,
            "turned": one,
            "pauses": min(pauses for _, _, pauses in runs),
            "session": use_session(provider._client),
            "status": job.status().name,
            "again": again.result().get_counts() == counts,
            "shots": [backend.min_shots, backend.max_shots >= 1000],
            "refusal": refusal,
        }
    )
)
