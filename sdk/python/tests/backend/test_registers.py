"""From what was measured to registers, and from these to Qiskit's result: nothing is mixed up."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit")

import numpy as np  # noqa: E402
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister  # noqa: E402
from qiskit.circuit import Clbit  # noqa: E402
from qiskit.primitives.containers import BitArray  # noqa: E402

from platform_quantum.backend import pack_memory  # noqa: E402
from platform_quantum.backend.pubs import Pub  # noqa: E402
from platform_quantum.backend.registers import describe_pub, list_registers  # noqa: E402
from platform_quantum.models import JobInfo  # noqa: E402
from platform_quantum.qiskit.result import (  # noqa: E402
    UnreadableResultError,
    build_result,
    read_register,
)

from ..support.descriptions import describe_job  # noqa: E402
from ..support.wire import read_header  # noqa: E402

INFO = JobInfo.from_dict(describe_job("COMPLETED"))


def make_circuit(*sizes: int) -> QuantumCircuit:
    registers = [ClassicalRegister(size, f"r{index}") for index, size in enumerate(sizes)]
    return QuantumCircuit(QuantumRegister(1), *registers)


def make_pub(circuit: QuantumCircuit, shots: int, shape: tuple[int, ...] = ()) -> Pub:
    return Pub(circuit, "named", shots, shape, (), ())


def read(pub: dict[str, Any], **more: Any) -> Any:
    return build_result({"pubs": [pub]}, INFO, **more)


def test_counts_become_counts_and_the_same_shots_one_by_one() -> None:
    pub = make_pub(make_circuit(3), 100)
    result = read(describe_pub(pub, [{"001": 60, "100": 40}], 1))
    assert result.get_counts() == {"001": 60, "100": 40}
    memory = result.get_memory()
    assert {text: memory.count(text) for text in set(memory)} == result.get_counts()
    assert result.results[0].data.probabilities == {"0x1": 0.6, "0x4": 0.4}
    assert memory != sorted(memory)
    assert read_header(result)["name"] == "named"


def test_registers_are_printed_with_blanks_the_last_one_first() -> None:
    pub = make_pub(make_circuit(2, 1, 9), 10)
    result = read(describe_pub(pub, [{"100000000 1 10": 4, "000000001 0 01": 6}], 1))
    assert result.get_counts() == {"100000000 1 10": 4, "000000001 0 01": 6}


def test_the_order_of_shots_is_kept_where_a_backend_knows_it() -> None:
    circuit = make_circuit(3, 70)
    generator = np.random.default_rng(3)
    memory = [hex(int.from_bytes(generator.bytes(9), "big")) for _ in range(50)]
    described = describe_pub(make_pub(circuit, 50), [pack_memory(memory, 73)], 1)
    result = read(described)
    assert [hex(int(text.replace(" ", ""), 2)) for text in result.get_memory()] == memory
    assert [len(part) for part in result.get_memory()[0].split()] == [70, 3]


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 62, 63, 64, 65, 130])
def test_registers_of_any_width_are_read_as_they_were_written(bits: int) -> None:
    top = 1 << (bits - 1)
    pub = make_pub(make_circuit(bits), 3)
    result = read(describe_pub(pub, [pack_memory([hex(top), "0x0", "0x1"], bits)], 1))
    assert [int(text, 2) for text in result.get_memory()] == [top, 0, 1]


def test_bits_without_a_register_have_their_place() -> None:
    circuit = QuantumCircuit([Clbit(), Clbit()], ClassicalRegister(1, "c"), [Clbit()])
    assert list_registers(circuit) == [("", 2), ("c", 1), ("", 1)]
    result = read(describe_pub(make_pub(circuit, 1), [{"1001": 1}], 1))
    assert result.get_counts() == {"1 0 01": 1}


def test_a_sweep_keeps_its_shape() -> None:
    pub = make_pub(make_circuit(2), 4, (2, 3))
    outputs = [BitArray(np.full((4, 1), index % 4, np.uint8), 2) for index in range(6)]
    (register,) = describe_pub(pub, outputs, 1)["registers"]
    assert register["shape"] == [2, 3]
    array = read_register(register)
    assert array.shape == (2, 3, 4, 1)
    assert array[1, 2, 0, 0] == 5 % 4


def test_an_output_that_does_not_fit_its_circuit_is_an_error_of_the_backend() -> None:
    pub = make_pub(make_circuit(2), 10)
    for output in ({"00": 9}, {"100": 10}, BitArray(np.zeros((10, 1), np.uint8), 3)):
        with pytest.raises(ValueError, match=r"shots|bits"):
            describe_pub(pub, [output], 1)


@pytest.mark.parametrize("counts", [{"00": 10**12}, {"00": -(10**12), "11": 10**12 + 10}])
def test_counts_beyond_the_shots_are_an_error_before_they_take_memory(
    counts: dict[str, int],
) -> None:
    with pytest.raises(ValueError, match="beyond 10 shots"):
        describe_pub(make_pub(make_circuit(2), 10), [counts], 1)


@pytest.mark.parametrize(
    "change",
    [
        {"samples": "AAAA"},
        {"samples": 5},
        {"bits": 2**60},
        {"bits": -1},
        {"shots": 10**15},
        {"shots": 99},
        {"bits": 30},
        {"shape": [10**9]},
        {"shape": "xx"},
    ],
)
def test_a_hostile_result_is_an_error_and_takes_no_memory(change: dict[str, Any]) -> None:
    described = describe_pub(make_pub(make_circuit(3), 100), [{"001": 100}], 1)
    described["registers"][0] |= change
    with pytest.raises(UnreadableResultError):
        read(described)


def test_samples_that_unpack_to_more_are_stopped() -> None:
    from platform_quantum import samples

    text = samples.pack(bytes(32 * 1024 * 1024))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="100 bytes"):
            samples.unpack(text, 100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1024 * 1024


@pytest.mark.parametrize("size", [9, 11])
def test_samples_of_another_size_are_refused(size: int) -> None:
    from platform_quantum import samples

    with pytest.raises(ValueError, match=f"{size} bytes"):
        samples.unpack(samples.pack(bytes(10)), size)


def test_without_memory_only_counts_are_kept() -> None:
    described = describe_pub(make_pub(make_circuit(3), 100), [{"001": 100}], 1)
    result = read(described, with_memory=False)
    assert result.get_counts() == {"001": 100}
    assert not hasattr(result.results[0].data, "memory")
