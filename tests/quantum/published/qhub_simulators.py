"""What programs that use qhub-quantum do, as it is published. Prints what came of it, as JSON."""

import json
import time

from braket.circuits import Circuit
from qhub.quantum.sdk import HubBraketProvider, HubQiskitProvider
from qhub.quantum.sdk.exceptions import HubApiError
from qiskit import QuantumCircuit, transpile
from qiskit.primitives import BackendSamplerV2

SHOTS = 50
provider = HubQiskitProvider()


def turn(qubit):
    circuit = QuantumCircuit(3, 3)
    circuit.x(qubit)
    circuit.measure(range(3), range(3))
    return circuit


def run(backend):
    since = time.monotonic()
    job = backend.run(transpile(turn(0), backend), shots=SHOTS)
    return job, job.result().get_counts(), time.monotonic() - since


def refuse(ask):
    try:
        ask()
    except HubApiError as error:
        return error.status_code
    return None


counts, seconds, last = {}, [], None
for name in ("azure.ionq.simulator", "qudora.sim.xg1", "kipu.sim.qsim", "aws.sim.sv1"):
    backend = provider.get_backend(name)
    # The first one may wait for its process.
    for _ in range(3):
        last, counts[name], took = run(backend)
        seconds.append(took)
several = provider.get_backend("qudora.sim.xg1").run([turn(0), turn(2)], shots=SHOTS).result()
device = HubBraketProvider().get_device("aws.sim.sv1")
measured = device.run(Circuit().x(0).i(1).i(2), shots=SHOTS).result().measurement_counts
sampler = BackendSamplerV2(backend=provider.get_backend("azure.ionq.simulator"))
(sampled,) = sampler.run([turn(0)], shots=SHOTS).result()
print(
    json.dumps(
        {
            "counts": counts,
            "batch": [several.get_counts(index) for index in range(2)],
            "braket": dict(measured),
            "sampler": sampled.data.c.get_counts(),
            "again": provider.retrieve_job(last.id).result().get_counts() == counts["aws.sim.sv1"],
            "listed": len(provider.jobs()) > 0,
            "quick": min(seconds) < 5,
            "refused": {
                "token": refuse(lambda: HubQiskitProvider("nobody").get_backend("sim.statevector")),
                "backend": refuse(lambda: provider.get_backend("azure.nothing.there")),
            },
        }
    )
)
