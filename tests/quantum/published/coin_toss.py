"""A coin toss as a service: written for the published SDK, which finds all it needs in the run."""

import os

from planqk.quantum.sdk import PlanqkQuantumProvider
from qiskit import QuantumCircuit, transpile


def run(data: dict, params: dict) -> dict:
    coins = data.get("coins", 2)
    circuit = QuantumCircuit(coins)
    circuit.h(range(coins))
    circuit.measure_all()
    backend = PlanqkQuantumProvider().get_backend("azure.ionq.simulator")
    job = backend.run(transpile(circuit, backend), shots=params.get("shots", 100))
    counts = job.result().get_counts()
    folder = os.environ["OUTPUT_DIRECTORY"]
    for name, content in {"hello.txt": b"heads or tails", "hello.jpg": b"\xff\xd8\xff\xd9"}.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return {"counts": counts, "job": job.id}
