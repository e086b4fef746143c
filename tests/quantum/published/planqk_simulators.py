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


def measure(name, circuit):
    task = PlanqkBraketProvider().get_device(name).run(circuit, shots=SHOTS)
    return dict(task.result().measurement_counts)


NAMES = ("azure.ionq.simulator", "aws.sim.sv1", "aws.sim.dm1")
print(
    json.dumps(
        {
            "counts": {name: run(name) for name in NAMES},
            "braket": measure("aws.sim.sv1", Circuit().x(0).i(1).i(2)),
            # Noise is what a density matrix is for.
            "noise": measure("aws.sim.dm1", Circuit().x(0).amplitude_damping(0, 1.0).x(1)),
        }
    )
)
