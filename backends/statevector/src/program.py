"""sim.statevector: exact simulation by Qiskit Aer.

Nothing is simulated when this is imported: threads of Aer would not survive the fork.
"""

from qiskit import transpile
from qiskit_aer import AerSimulator
from qiskit_aer.primitives import EstimatorV2

from platform_quantum.backend import (
    BackendFailure,
    check_memory,
    count_threads,
    foresee_states,
    gate_backend,
    read_shots,
)
from platform_quantum.qiskit.target import build_target

MEMORY_BYTES = 512 * 1024 * 1024
QUBITS = 24
METHOD_QUBITS = {
    "automatic": QUBITS,
    "statevector": QUBITS,
    "matrix_product_state": 63,
    "stabilizer": 1000,
}
OF_STATES = ("automatic", "statevector")

GATES = (
    *("x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "id"),
    *("p", "r", "rx", "ry", "rz", "u", "u1", "u2", "u3"),
    *("cx", "cy", "cz", "cp", "csx", "cu", "cu1", "cu3", "crx", "cry", "crz", "swap", "ecr"),
    *("rxx", "ryy", "rzz", "rzx", "ccx", "ccz", "cswap", "mcx", "mcphase"),
    *("unitary", "diagonal", "initialize", "pauli"),
)
INSTRUCTIONS = (
    *("measure", "reset", "delay", "barrier", "store"),
    *("if_else", "for_loop", "while_loop", "switch_case", "break_loop", "continue_loop"),
)


def make_simulator(method):
    threads = count_threads()
    return AerSimulator(
        method=method,
        max_parallel_threads=threads,
        # One state at a time: each shot in parallel would have one of its own.
        max_parallel_experiments=1,
        max_parallel_shots=1,
        max_memory_mb=MEMORY_BYTES >> 20,
    )


def check(circuit, options):
    method = options.get("method", "automatic")
    if method not in METHOD_QUBITS:
        known = ", ".join(METHOD_QUBITS)
        raise BackendFailure("INVALID_INPUT", f"`method` must be one of {known}.")
    if method in OF_STATES:
        check_memory(circuit.num_qubits, MEMORY_BYTES)


def execute(circuits, shots, options):
    method = options.get("method", "automatic")
    simulator = make_simulator(method)
    prepared = [fit(circuit, simulator, method) for circuit in circuits]
    job = simulator.run(prepared, shots=shots, memory=True, seed_simulator=options.seed % 2**31)
    return read_shots(job.result(), circuits, shots)


def fit(circuit, simulator, method):
    """The circuit with the gates of a method, which has fewer than Aer has."""
    names = simulator.operation_names
    if method in OF_STATES or set(circuit.count_ops()) <= {*names, "barrier"}:
        return circuit
    target = build_target(
        {"gates": [{"name": name} for name in names], "instructions": INSTRUCTIONS}
    )
    try:
        return transpile(circuit, target=target, optimization_level=0)
    except Exception as error:
        detail = f"The method {method} cannot run a gate of the circuit: {error}"
        raise BackendFailure("GATE_UNSUPPORTED", detail[:500]) from None


def foresee(circuit, shots, options):
    method = options.get("method", "automatic")
    return foresee_states(circuit, shots) if method in OF_STATES else None


def make_estimator(options):
    simulator = {"max_parallel_threads": count_threads(), "max_memory_mb": MEMORY_BYTES >> 20}
    return EstimatorV2(
        options={
            "default_precision": options.precision or 0.0,
            "backend_options": {"method": options.get("method", "automatic"), **simulator},
            "run_options": {"seed_simulator": options.seed % 2**31},
        }
    )


run, describe = gate_backend(
    execute,
    qubits=QUBITS,
    gates=GATES,
    instructions=INSTRUCTIONS,
    method_qubits=METHOD_QUBITS,
    options=("method",),
    shots=(1, 1_000_000),
    estimator=make_estimator,
    check=check,
    seconds=foresee,
    has_states=True,
    deterministic=True,
    display_name="State vector simulator",
    technology="simulator",
)
