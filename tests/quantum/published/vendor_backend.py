"""Simulates circuits of few qubits as IonQ's API has them: a backend for tests of SDKs."""

import math
import random
import time

QUBITS = 4
ROOT = math.sqrt(0.5)
SINGLE = {
    "x": ((0, 1), (1, 0)),
    "h": ((ROOT, ROOT), (ROOT, -ROOT)),
    "z": ((1, 0), (0, -1)),
}
MANY = 1000
"""So many shots take a second: longer than a client takes to ask for the first time."""
GATES = [{"name": name, "native_gate": True} for name in ("x", "h", "z", "cx")]


def describe() -> dict:
    return {
        "type": "SIMULATOR",
        "display_name": "IonQ's circuits",
        "provider": "AZURE",
        "hardware_provider": "IONQ",
        "technology": "simulator",
        "configuration": {
            "qubit_count": QUBITS,
            "qubits": [{"id": str(number)} for number in range(QUBITS)],
            "gates": GATES,
            "instructions": ["measure"],
            "connectivity": {"fully_connected": True},
            "shots_range": {"min": 1, "max": 10_000},
            "max_pubs_per_job": 1,
            "supported_input_formats": ["IONQ_CIRCUIT_V1"],
            "memory_result_supported": False,
        },
    }


def run(data: dict, params: dict) -> dict:
    count = data["qubits"]
    state = [0.0] * 2**count
    state[0] = 1.0
    for gate in data["circuit"]:
        state = apply(state, gate)
    shots = params.get("shots", 100)
    time.sleep(1 if shots >= MANY else 0)
    drawn = random.choices(range(2**count), [abs(one) ** 2 for one in state], k=shots)
    # Clients without a map of measurements turn the states around.
    turn = not params.get("meas_map")
    histogram: dict[str, float] = {}
    for index in drawn:
        bits = format(index, f"0{count}b")
        key = str(int(bits[::-1] if turn else bits, 2))
        histogram[key] = histogram.get(key, 0) + 1 / shots
    return {"histogram": histogram}


def apply(state: list, gate: dict) -> list:
    name = "x" if gate["gate"] == "cnot" else gate["gate"]
    (zero, one), (two, three) = SINGLE[name]
    controls = listed(gate, "control")
    (target,) = listed(gate, "target")
    after = list(state)
    for index in range(len(state)):
        if index >> target & 1 or not all(index >> control & 1 for control in controls):
            continue
        low, high = state[index], state[index | 1 << target]
        after[index] = zero * low + one * high
        after[index | 1 << target] = two * low + three * high
    return after


def listed(gate: dict, name: str) -> list:
    found = gate.get(f"{name}s", gate.get(name, []))
    return found if isinstance(found, list) else [found]
