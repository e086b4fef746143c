"""What reads circuits goes first in a copy of the process: what ends that is told, in time."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit  # noqa: E402

from platform_quantum.backend import BackendFailure, Limits, gate_backend, trial  # noqa: E402

from ..support.wire import make_data, make_ghz, run_over_wire, to_qpy, to_text  # noqa: E402

MEGABYTE = 1024 * 1024
FINISHED, REFUSED = 0, 1


pytestmark = pytest.mark.usefixtures("alone")


def refuse(read: Any, seconds: int = 20) -> BackendFailure:
    with pytest.raises(BackendFailure) as raised:
        trial.read_in_copy(read, seconds)
    return raised.value


def leave_by(number: int) -> None:
    os.kill(os.getpid(), number)


def count_beyond_all_times() -> int:
    nine = 9
    return int(nine ** (nine**nine))  # one operation, which no signal handler interrupts


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_what_ends_the_copy_is_told_and_ends_nothing_else(number: signal.Signals) -> None:
    failure = refuse(lambda: leave_by(number))
    assert failure.code == "CIRCUIT_INVALID"
    assert number.name in failure.detail


def test_a_status_is_told_too() -> None:
    # As of a library that ends its process instead of raising something.
    assert "status 3" in refuse(lambda: os._exit(3)).detail


def test_what_takes_too_long_is_ended_though_nothing_interrupts_it() -> None:
    begin = time.process_time()
    failure = refuse(count_beyond_all_times, 1)
    assert failure.code == "CIRCUIT_TOO_LARGE"
    assert "more than 1 seconds of a processor" in failure.detail
    assert time.process_time() - begin < 1


def test_what_takes_too_long_is_ended_whatever_the_process_does_with_the_signal() -> None:
    def stop(*_: object) -> None:
        raise ValueError

    def loop() -> None:
        end = time.process_time() + 20
        while time.process_time() < end:
            pass

    former = signal.signal(signal.SIGXCPU, stop)
    try:
        assert refuse(loop, 1).code == "CIRCUIT_TOO_LARGE"
    finally:
        signal.signal(signal.SIGXCPU, former)


def test_the_end_of_a_copy_says_nothing_of_its_code(tmp_path: Path) -> None:
    was_enabled = faulthandler.is_enabled()
    with (tmp_path / "said").open("w+b") as said:
        faulthandler.enable(said)
        try:
            refuse(lambda: leave_by(signal.SIGSEGV))
        finally:
            faulthandler.disable()
            if was_enabled:
                faulthandler.enable(sys.__stderr__)
        said.seek(0)
        assert said.read() == b""


def test_a_refusal_of_the_copy_is_that_of_the_process() -> None:
    def read() -> None:
        raise BackendFailure("GATE_UNSUPPORTED", "no \u00e9 " + "x" * 100_000)

    failure = refuse(read)
    assert failure.code == "GATE_UNSUPPORTED"
    assert failure.detail == "no \u00e9 " + "x" * 100_000


def test_what_takes_too_much_memory_is_refused_by_the_copy_alone() -> None:
    calls: list[int] = []

    def read() -> None:
        calls.append(1)
        raise MemoryError

    assert refuse(read).code == "CIRCUIT_TOO_LARGE"
    assert calls == []


def test_what_else_is_raised_is_left_to_the_process(capfd: pytest.CaptureFixture[str]) -> None:
    def read() -> None:
        os.write(1, b"of the host")
        os.write(2, b"of the host")
        raise ValueError("wrong")

    trial.read_in_copy(read, 20)
    assert capfd.readouterr() == ("", "")


def test_a_process_with_threads_has_no_copy(alone: Path) -> None:
    (alone / "2").touch()
    trial.read_in_copy(lambda: leave_by(signal.SIGSEGV), 20)


def test_a_process_that_may_start_no_other_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_fork() -> int:
        raise BlockingIOError

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fork", refuse_fork)
    trial.read_in_copy(lambda: leave_by(signal.SIGSEGV), 20)
    assert len(os.listdir("/proc/self/fd")) == before


def claim_bits(count: int) -> str:
    """A circuit of a gate whose definition claims to have so many bits: its file has 1 KB."""
    inner = QuantumCircuit(2, name="inner")
    inner.rx(0.25, 0)
    circuit = QuantumCircuit(2, 2)
    circuit.append(inner.to_gate(), [0, 1])
    circuit.measure([0, 1], [0, 1])
    content = to_qpy(circuit)
    head = struct.pack("!HcH", len("inner"), b"f", 8)
    claim = struct.pack("!II", 2, 0)
    assert content.count(head + claim) == 1
    return to_text(content.replace(head + claim, head + struct.pack("!II", 2, count)))


def run_limited(text: str, data_bytes: int) -> int:
    """Runs a job in a child with so much memory; its exit status, or -signal."""
    run, _ = gate_backend(
        lambda circuits, shots, _: [{"00": shots} for _ in circuits], qubits=4, gates=("rx",)
    )
    child = os.fork()
    if child == 0:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (used + data_bytes,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = 2
        try:
            run_over_wire(run, make_data(text), shots=1)
            status = FINISHED
        except BackendFailure as failure:
            status = REFUSED if failure.code.startswith("CIRCUIT_") else 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_bits_of_a_definition_that_take_all_memory_end_no_run() -> None:
    assert run_limited(claim_bits(3), 256 * MEGABYTE) == FINISHED
    assert run_limited(claim_bits(2**30), 256 * MEGABYTE) == REFUSED


def test_a_job_whose_circuits_take_too_long_to_be_read_is_refused() -> None:
    calls: list[int] = []
    run, _ = gate_backend(
        lambda circuits, shots, _: calls.append(1) or [{"00": shots} for _ in circuits],
        qubits=4,
        gates=("h", "cx"),
        limits=Limits(reading_seconds=1),
    )
    run_over_wire(run, make_data(make_ghz(2)), shots=1)
    assert calls == [1]
    lines = "".join(f"rx({n}) q[0];" for n in range(20_000))
    text = f'OPENQASM 3.0; include "stdgates.inc"; qubit[1] q; bit[1] c; {lines}'
    with pytest.raises(BackendFailure, match="more than 1 seconds of a processor"):
        run_over_wire(run, make_data(text, format_name="OPEN_QASM_V3"), shots=1)
    assert calls == [1]
