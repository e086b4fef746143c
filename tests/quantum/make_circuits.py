"""Prints circuits of several kinds as JSON: their names, and QPY in base64 as it is."""

import base64
import io
import json

from qiskit import QuantumCircuit, qpy
from qiskit.circuit import Parameter
from qiskit.circuit.library import QFTGate, UnitaryGate


def make_bell():
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.measure_all()
    return circuit


def make_gates():
    inner = QuantumCircuit(2, name="inner")
    inner.rx(0.25, 0)
    inner.crz(0.5, 0, 1)
    circuit = QuantumCircuit(4, 4)
    circuit.append(inner.to_gate(), [0, 1])
    circuit.append(QFTGate(3), [0, 1, 2])
    circuit.append(UnitaryGate([[0, 1], [1, 0]]), [3])
    circuit.mcx([0, 1, 2], 3)
    circuit.initialize([0.6, 0.8], 2)
    circuit.barrier()
    circuit.measure(range(4), range(4))
    return circuit


def make_flow():
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(1)
    with circuit.for_loop(range(4)):
        circuit.rz(0.1, 0)
    circuit.measure(1, 1)
    return circuit


def make_sweep():
    circuit = QuantumCircuit(1)
    circuit.rx(2 * Parameter("angle"), 0)
    circuit.measure_all()
    return circuit


def make_entangled():
    """So many layers that the bonds of a matrix product state grow as far as they can."""
    circuit = QuantumCircuit(40)
    for layer in range(40):
        for qubit in range(40):
            circuit.u(0.3 + layer, 0.7 * qubit, 1.1, qubit)
        for qubit in range(layer % 2, 39, 2):
            circuit.cx(qubit, qubit + 1)
    circuit.measure_all()
    return circuit


def write(circuit):
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer, version=13)
    return base64.b64encode(buffer.getvalue()).decode()


MAKERS = (make_bell, make_gates, make_flow, make_sweep, make_entangled)
print(json.dumps({maker.__name__.removeprefix("make_"): write(maker()) for maker in MAKERS}))
