"""Draws a number by Qiskit alone: no backend of a platform."""

import time

from qiskit import QuantumCircuit, transpile
from qiskit_aer import AerSimulator


def run(data: dict, params: dict) -> dict:
    since = time.time()
    bits = data.get("n_bits", 2)
    simulator = AerSimulator()
    circuit = QuantumCircuit(bits, bits)
    circuit.h(range(bits))
    circuit.measure(range(bits), range(bits))
    job = simulator.run(transpile(circuit, simulator), shots=params.get("shots", 10))
    number = int(next(iter(job.result().get_counts())), 2)
    return {"random_number": number, "execution_time": round(time.time() - since, 3)}
