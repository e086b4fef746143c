"""What programs that use planqk-quantum do, as it is published. Prints what came of it, as JSON."""

import json
import time

from planqk.quantum.sdk import PlanqkQuantumProvider
from planqk.quantum.sdk.exceptions import InvalidAccessTokenError
from qiskit import QuantumCircuit, transpile

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
    since = time.monotonic()
    job = backend.run(transpile(circuit, backend), shots=shots)
    counts = job.result().get_counts()
    return job, counts, time.monotonic() - since


runs = [run(bell, 1000) for _ in range(4)]
job, counts, _ = runs[-1]
seconds = min(seconds for _, _, seconds in runs)
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
            "seconds": seconds,
            "status": job.status().name,
            "again": again.result().get_counts() == counts,
            "shots": [backend.min_shots, backend.max_shots >= 1000],
            "refusal": refusal,
        }
    )
)
