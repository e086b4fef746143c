"""Writes src/device.json: the calibration of an imaginary device on a heavy hexagon.

python3 make_device.py
"""

import json
from pathlib import Path

from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap

SEED = 19
DISTANCE = 3
FILE = Path(__file__).parent / "src" / "device.json"
GATES = ("id", "rz", "sx", "x", "cx", "measure", "reset")
DEFAULT_DURATION = 1e-6
"""Of a reset, which the generic device leaves open."""


def describe_device():
    coupling = CouplingMap.from_heavy_hex(DISTANCE)
    target = GenericBackendV2(coupling.size(), coupling_map=coupling, seed=SEED).target
    qubits = [
        {"id": str(index), "t1": qubit.t1, "t2": min(qubit.t2, 2 * qubit.t1)}
        for index, qubit in enumerate(target.qubit_properties)
    ]
    gates = [
        {
            "name": name,
            "qubits": [str(qubit) for qubit in place],
            "duration": DEFAULT_DURATION if properties is None else properties.duration,
            "error": 0.0 if properties is None else properties.error,
        }
        for name in GATES
        for place, properties in sorted(target[name].items())
    ]
    return {"qubits": qubits, "gates": gates}


if __name__ == "__main__":
    FILE.write_text(json.dumps(describe_device(), separators=(",", ":")) + "\n", "utf-8")
