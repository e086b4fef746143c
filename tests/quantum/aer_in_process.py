"""For bench/quantum.ts: prints its circuits, then for each line that names some the ms they take.

`aer NAME` runs them in this process as the backend does, `sdk NAME` on the platform of the
environment, by the SDK.
"""

import base64
import io
import json
import sys
import time
import zlib

from qiskit import QuantumCircuit, qpy
from qiskit_aer import AerSimulator

from platform_quantum import PlatformQuantumProvider

SHOTS = 1000


def make_ghz(width):
    circuit = QuantumCircuit(width)
    circuit.h(0)
    for index in range(width - 1):
        circuit.cx(index, index + 1)
    circuit.measure_all()
    return circuit


def write(circuit):
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer, version=13)
    return base64.b64encode(zlib.compress(buffer.getvalue())).decode()


def measure(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


CIRCUITS = {"ghz-3": [make_ghz(3)], "ghz-20": [make_ghz(20)], "batch": [make_ghz(3)] * 50}
print(json.dumps({name: [write(one) for one in some] for name, some in CIRCUITS.items()}))
sys.stdout.flush()

simulator = AerSimulator(max_parallel_threads=1)
backend = None
for line in sys.stdin:
    where, name = line.split()
    circuits = CIRCUITS[name]
    if where == "aer":
        took = measure(lambda: simulator.run(circuits, shots=SHOTS, memory=True).result())  # noqa: B023
    else:
        backend = backend or PlatformQuantumProvider().get_backend("sim.statevector")
        took = measure(lambda: backend.run(circuits, shots=SHOTS).result())  # noqa: B023
    print(json.dumps(took), flush=True)
