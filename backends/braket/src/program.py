"""sim.braket: exact simulation by the simulators of the Amazon Braket SDK, with their noise.

Circuits come in Braket's OpenQASM 3, with results as Braket has them, or in the own form of jobs.
Nothing is compiled and no thread is started: what numba compiles would be compiled in each job
anew (seconds), and its threads would not survive the fork.
"""

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"

import itertools
import json
import warnings

import numpy as np
from braket.default_simulator import StateVectorSimulator, linalg_utils
from braket.default_simulator.density_matrix_simulator import DensityMatrixSimulator
from braket.default_simulator.gate_operations import BRAKET_GATES
from braket.default_simulator.openqasm import interpreter
from braket.default_simulator.openqasm.program_context import ProgramContext
from braket.default_simulator.result_types import from_braket_result_type
from braket.ir.jaqcd import Expectation
from braket.ir.openqasm import Program as BraketProgram
from qiskit.primitives.containers import BitArray

from platform_quantum.backend import (
    BackendFailure,
    BraketRunner,
    Limits,
    check_nesting,
    gate_backend,
    read_in_copy,
)
from platform_quantum.backend.braket_gates import TO_BRAKET

FORMAT = "BRAKET_OPEN_QASM_V3"
QUBITS = 22
"""A state has 64 MB, and there are up to four of it while a gate is applied."""
METHOD_QUBITS = {"automatic": QUBITS, "statevector": QUBITS, "density_matrix": QUBITS // 2}
MAX_SHOTS = 100_000
MAX_DECLARED = 1_000
LIMITS = Limits(circuits=100, operations=100_000, total_shots=1_000_000)
RESULT_QUBITS = {"statevector": 16, "densitymatrix": 8, "probability": 16}
"""A state of 16 qubits has about 2.6 MB of JSON."""
NOISE = "#pragma braket noise"

# The functions of numpy for states of every size.
linalg_utils._QUBIT_THRESHOLD = 10**9


def refuse_file(*_arguments, **_options):
    raise BackendFailure("CIRCUIT_INVALID", "Files cannot be included: every gate is built in.")


# The interpreter would read `include`d files of this machine.
interpreter.open = refuse_file
find_range = interpreter.convert_range_def_to_range


def find_bounded_range(definition):
    """The interpreter makes a list of it, whatever a loop does with it."""
    found = find_range(definition)
    if found[LIMITS.operations :]:
        detail = f"A loop has {LIMITS.operations:,} rounds at most."
        raise BackendFailure("CIRCUIT_TOO_LARGE", detail)
    return found


interpreter.convert_range_def_to_range = find_bounded_range


class BoundedContext(ProgramContext):
    """Counts operations while loops and gates are unrolled, before anything is simulated."""

    operations = 0
    scopes = 0

    def push_scope(self):
        """Each round of a loop has a scope of its own, and so has each use of a gate."""
        self.scopes += 1
        if self.scopes > LIMITS.operations:
            detail = f"The program has more than {LIMITS.operations:,} rounds of loops, or gates."
            raise BackendFailure("CIRCUIT_TOO_LARGE", detail)
        super().push_scope()

    def count(self):
        self.operations += 1
        if self.operations > LIMITS.operations:
            detail = f"The program has more than {LIMITS.operations:,} operations once unrolled."
            raise BackendFailure("CIRCUIT_TOO_LARGE", detail)

    def add_qubits(self, name, num_qubits=1):
        if (num_qubits or 1) > MAX_DECLARED:
            detail = f"A register has {MAX_DECLARED} qubits at most."
            raise BackendFailure("TOO_MANY_QUBITS", detail)
        super().add_qubits(name, num_qubits)

    def add_gate_instruction(self, *arguments, **options):
        self.count()
        super().add_gate_instruction(*arguments, **options)

    def add_noise_instruction(self, *arguments, **options):
        self.count()
        super().add_noise_instruction(*arguments, **options)

    def add_phase_instruction(self, *arguments, **options):
        self.count()
        super().add_phase_instruction(*arguments, **options)


class Bounded:
    """A simulator whose shots depend on a seed, and which refuses what does not fit."""

    most = QUBITS

    def __init__(self, seed):
        super().__init__()
        self.seeds = np.random.default_rng(seed)
        self.context = None

    def create_program_context(self):
        self.context = BoundedContext(simulator=self)
        return self.context

    def initialize_simulation(self, **options):
        width = options["qubit_count"]
        if width > self.most:
            detail = f"The program has {width} qubits; this method has {self.most}."
            raise BackendFailure("TOO_MANY_QUBITS", detail)
        for asked in self.context.circuit.results if self.context else ():
            most = RESULT_QUBITS.get(asked.type, QUBITS)
            told = len(getattr(asked, "targets", None) or ()) or width
            if told > most:
                detail = f"The result {asked.type} is told of {most} qubits at most, not {told}."
                raise BackendFailure("TOO_MANY_QUBITS", detail)
        simulation = super().initialize_simulation(**options)
        simulation._rng_generator = np.random.default_rng(self.seeds.integers(2**63))
        return simulation


class States(Bounded, StateVectorSimulator):
    pass


class Matrices(Bounded, DensityMatrixSimulator):
    most = METHOD_QUBITS["density_matrix"]


def make_simulator(method, seed, source=""):
    is_mixed = method == "density_matrix" or (method == "automatic" and NOISE in source)
    return Matrices(seed) if is_mixed else States(seed)


def simulate(program, method, seed):
    """The task result of a program in Braket's OpenQASM."""
    check_nesting(program.source)
    simulator = make_simulator(method, seed, program.source)
    # A name of a file would be read, and this is none.
    given = BraketProgram(source=program.source + "\n", inputs=program.inputs or None)
    # What it computes of numbers is not interrupted by anything: 9 ** 9 ** 9.
    read_in_copy(
        lambda: make_simulator(method, seed, program.source).parse_program(given),
        LIMITS.reading_seconds,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = simulator.run_openqasm(given, shots=program.shots)
        return tell(result, program)
    except BackendFailure:
        raise
    except (MemoryError, RecursionError):
        detail = "The program is nested too deeply, or too large."
        raise BackendFailure("CIRCUIT_TOO_LARGE", detail) from None
    except Exception as error:
        is_lacking = isinstance(error, NotImplementedError)
        code = "GATE_UNSUPPORTED" if is_lacking else "CIRCUIT_INVALID"
        reason = str(error) or "the log says where it is not understood"
        detail = f"The program cannot be run: {type(error).__name__}: {reason}"
        raise BackendFailure(code, detail[:500]) from None


def tell(result, program):
    """A task result as Braket's services write it: values also of what was sampled."""
    asked = result.resultTypes or []
    result.resultTypes = []
    told = json.loads(result.json())
    if program.shots == 0:
        values = [(json.loads(one.type.json()), one.value) for one in asked]
    else:
        shots = np.array(result.measurements, dtype=np.uint8)
        places = {qubit: index for index, qubit in enumerate(result.measuredQubits)}
        values = [(json.loads(one.json()), estimate(one, shots, places)) for one in asked]
    # Where nothing was sampled, Braket has null.
    told["measurements"] = told["measurements"] or None
    told["resultTypes"] = [{"type": kind, "value": to_json(value)} for kind, value in values]
    return told


def estimate(asked, shots, places):
    """The value of what was asked for, from what was measured."""
    if asked.type == "probability":
        qubits = asked.targets or list(places)
        found = np.bincount(index(shots, places, qubits), minlength=1 << len(qubits))
        return found / len(shots)
    # What is sampled has an observable as what is expected.
    alike = Expectation.construct(observable=asked.observable, targets=asked.targets)
    observable = from_braket_result_type(alike).observable
    if asked.targets:
        factors = getattr(observable, "factors", (observable,))
        ordered = sorted(tuple(factor.measured_qubits) for factor in factors)
        qubits = list(itertools.chain.from_iterable(ordered))
        return summarize(asked.type, np.real(observable.eigenvalues), shots, (places, qubits))
    return [
        summarize(asked.type, np.real(observable.eigenvalues), shots, (places, [qubit]))
        for qubit in places
    ]


def summarize(kind, eigenvalues, shots, where):
    values = eigenvalues[index(shots, *where)]
    if kind == "sample":
        return values
    return float(np.mean(values) if kind == "expectation" else np.var(values))


def index(shots, places, qubits):
    """The outcomes of some qubits as numbers, the first qubit highest."""
    chosen = shots[:, [places[qubit] for qubit in qubits]].astype(np.int64)
    return chosen @ (1 << np.arange(len(qubits))[::-1])


def to_json(value):
    if isinstance(value, dict):
        return {name: to_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    array = np.asarray(value)
    return (
        np.stack([array.real, array.imag], -1).tolist()
        if array.dtype.kind == "c"
        else array.tolist()
    )


def check(circuit, options):
    method = options.get("method", "automatic")
    if method not in tuple(METHOD_QUBITS):
        known = ", ".join(METHOD_QUBITS)
        raise BackendFailure("INVALID_INPUT", f"`method` must be one of {known}.")
    measured = set()
    for instruction in circuit.data:
        if instruction.operation.name == "reset":
            raise BackendFailure("GATE_UNSUPPORTED", "sim.braket does not run reset.")
        if instruction.operation.name in ("barrier", "delay"):
            continue
        if measured.intersection(instruction.qubits):
            detail = "A qubit is used after it was measured, which sim.braket does not run."
            raise BackendFailure("GATE_UNSUPPORTED", detail)
        if instruction.operation.name == "measure":
            measured.update(instruction.qubits)


def execute(circuits, shots, options):
    simulator = make_simulator(options.get("method", "automatic"), options.seed)
    return [sample(circuit, shots, simulator) for circuit in circuits]


def sample(circuit, shots, simulator):
    """All shots of a circuit of Qiskit."""
    bits = np.zeros((shots, circuit.num_clbits), dtype=bool)
    operations, measured = translate(circuit)
    if measured:
        width = circuit.num_qubits
        simulation = simulator.initialize_simulation(qubit_count=width, shots=shots, batch_size=1)
        simulation.evolve(operations)
        numbers = np.asarray(simulation.retrieve_samples(), dtype=np.int64)
        for qubit, bit in measured:
            bits[:, bit] = numbers >> (width - 1 - qubit) & 1
    return BitArray.from_bool_array(bits, order="little")


def translate(circuit):
    """The gates of a circuit of Qiskit, and which qubit is measured into which bit."""
    operations, measured = [], []
    for instruction in circuit.data:
        places = tuple(circuit.find_bit(qubit).index for qubit in instruction.qubits)
        name = instruction.operation.name
        if name == "measure":
            measured.append((places[0], circuit.find_bit(instruction.clbits[0]).index))
        elif name not in ("barrier", "delay"):
            angles = [float(angle) for angle in instruction.operation.params]
            gate = BRAKET_GATES[TO_BRAKET[name]]
            operations.append(gate(places, *angles, ctrl_modifiers=[], power=1))
    return operations, measured


run_circuits, describe_circuits = gate_backend(
    execute,
    qubits=QUBITS,
    gates=tuple(TO_BRAKET),
    instructions=("measure", "delay", "barrier"),
    method_qubits=METHOD_QUBITS,
    options=("method",),
    shots=(1, MAX_SHOTS),
    limits=LIMITS,
    check=check,
    deterministic=True,
    display_name="Braket simulator",
    technology="simulator",
)
RUNNER = BraketRunner(simulate, tuple(METHOD_QUBITS), MAX_SHOTS, LIMITS)


def run(data, params):
    braket = data.get("format") == FORMAT
    return RUNNER.run(data, params) if braket else run_circuits(data, params)


def describe():
    described = describe_circuits()
    configuration = described["configuration"]
    formats = [*configuration["supported_input_formats"], FORMAT]
    config = json.loads(States(0).properties.json())
    config["paradigm"]["qubitCount"] = QUBITS
    config["service"]["shotsRange"] = [0, MAX_SHOTS]
    return {
        **described,
        "configuration": {**configuration, "supported_input_formats": formats},
        "config": config,
    }
