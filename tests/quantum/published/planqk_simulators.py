"""What samples for planqk-quantum do, as it is published. Prints what came of it, as JSON."""

import json

from braket.circuits import Circuit
from planqk.quantum.sdk import PlanqkBraketProvider, PlanqkQuantumProvider
from qiskit import QuantumCircuit, transpile

SHOTS = 50
provider = PlanqkQuantumProvider()


def run(name):
    backend = provider.get_backend(name)
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.measure(range(3), range(3))
    job = backend.run(transpile(circuit, backend), shots=min(SHOTS, backend.max_shots))
    return job.result().get_counts()


device = PlanqkBraketProvider().get_device("aws.sim.sv1")
measured = device.run(Circuit().x(0).i(1).i(2), shots=SHOTS).result().measurement_counts
print(
    json.dumps(
        {
            "counts": {name: run(name) for name in ("azure.ionq.simulator", "aws.sim.sv1")},
            "braket": dict(measured),
        }
    )
)
