"""sim.noisy: simulation by Qiskit Aer with the noise of a device.

Nothing is simulated when this is imported: threads of Aer would not survive the fork.
"""

import functools
import json
from pathlib import Path

from qiskit import transpile

from platform_quantum.backend import (
    BackendFailure,
    check_memory,
    count_threads,
    gate_backend,
    read_shots,
)
from platform_quantum.qiskit.noise import build_noise, make_simulator
from platform_quantum.qiskit.target import build_target

DEVICE = json.loads((Path(__file__).parent / "device.json").read_text("utf-8"))
MEMORY_BYTES = 512 * 1024 * 1024
MAX_QUBITS = len(DEVICE["qubits"])
MAX_GATES = 5_000
NOT_GATES = ("measure", "reset")
INSTRUCTIONS = ("measure", "reset", "delay", "if_else")


def read_coupling(calibration):
    """Pairs of a gate on two qubits; None where the calibration has no such gate."""
    pairs = {
        tuple(int(qubit) for qubit in gate["qubits"])
        for gate in calibration["gates"]
        if len(gate["qubits"]) == 2
    }
    return sorted(pairs) or None


def describe_calibration(calibration):
    """The configuration of a device of which only the calibration is known."""
    ids = [str(qubit["id"]) for qubit in calibration["qubits"]]
    graph = {name: [] for name in ids}
    for gate in calibration["gates"]:
        if len(gate["qubits"]) == 2:
            one, other = (str(qubit) for qubit in gate["qubits"])
            graph[one].append(other)
    return {
        "qubit_count": len(ids),
        "qubits": [{"id": name} for name in ids],
        "gates": [{"name": name} for name in name_gates(calibration)],
        "instructions": INSTRUCTIONS,
        "connectivity": {"graph": graph},
    }


def name_gates(calibration):
    names = dict.fromkeys(gate["name"] for gate in calibration["gates"])
    return [name for name in names if name not in NOT_GATES]


@functools.cache
def load_device():
    target = build_target(describe_calibration(DEVICE), DEVICE)
    return target, build_noise(target)


def read_device(options):
    """Target and noise: those of the bundled device, or of the calibration that came."""
    calibration = options.get("noise")
    if calibration is None:
        return load_device()
    try:
        if not 1 <= len(calibration["qubits"]) <= MAX_QUBITS:
            raise ValueError(f"it must have 1 to {MAX_QUBITS} qubits")
        if len(calibration["gates"]) > MAX_GATES:
            raise ValueError(f"it has more than {MAX_GATES} gates")
        target = build_target(describe_calibration(calibration), calibration)
        return target, build_noise(target)
    except Exception as error:
        detail = f"`noise` is not a calibration: {type(error).__name__}: {error}"
        raise BackendFailure("INVALID_INPUT", detail[:500]) from None


def check(circuit, options):
    target, _ = read_device(options)
    if circuit.num_qubits > target.num_qubits:
        detail = f"The circuit has {circuit.num_qubits} qubits, the device {target.num_qubits}."
        raise BackendFailure("TOO_MANY_QUBITS", detail)
    check_memory(target.num_qubits, MEMORY_BYTES)


def execute(circuits, shots, options):
    target, noise = read_device(options)
    seed = options.seed % 2**31
    threads, megabytes = count_threads(), MEMORY_BYTES >> 20
    simulator = make_simulator(noise, max_parallel_threads=threads, max_memory_mb=megabytes)
    # Gates that the device has not would have no noise.
    try:
        routed = [
            transpile(circuit, target=target, optimization_level=0, seed_transpiler=seed)
            for circuit in circuits
        ]
    except Exception as error:
        detail = f"A circuit cannot be routed on the device: {error}"
        raise BackendFailure("GATE_UNSUPPORTED", detail[:500]) from None
    result = simulator.run(routed, shots=shots, memory=True, seed_simulator=seed).result()
    return read_shots(result, circuits, shots)


# Built before the fork: no job pays for it.
load_device()

run, describe = gate_backend(
    execute,
    qubits=len(DEVICE["qubits"]),
    gates=name_gates(DEVICE),
    instructions=(*INSTRUCTIONS, "barrier"),
    coupling=read_coupling(DEVICE),
    calibration=DEVICE,
    options=("noise",),
    shots=(1, 100_000),
    check=check,
    deterministic=True,
    display_name="Noisy simulator",
    technology="superconducting",
)
