"""Circuits of strangers: what is read, and what becomes of what cannot be."""

from __future__ import annotations

import base64
import os
import random
import resource
import struct
import time
import tracemalloc
import zlib
from collections import Counter
from pathlib import Path

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit, qasm2, qasm3, qpy  # noqa: E402

from platform_quantum.backend import BackendFailure, Limits  # noqa: E402
from platform_quantum.backend.decode import MAX_QPY, Decoder  # noqa: E402

from ..support.wire import make_ghz, to_qpy, to_text  # noqa: E402

QPY, QASM3, QASM2 = "QISKIT_QPY", "OPEN_QASM_V3", "OPEN_QASM_V2"
MEGABYTE = 1024 * 1024


def decode(text: str, format_name: str = QPY, limits: Limits | None = None) -> QuantumCircuit:
    return Decoder(format_name, limits or Limits()).decode(text)


READ, REFUSED = 0, 1


def run_limited(text: str, data_bytes: int = 4 * 1024 * MEGABYTE) -> int:
    """Decodes in a child with so much memory and 20 s; its exit status, or -signal."""
    child = os.fork()
    if child == 0:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + data_bytes,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        status = 2
        try:
            decode(text)
            status = READ
        except BackendFailure as failure:
            is_told = failure.code.startswith("CIRCUIT_") and "nested" not in failure.detail
            status = REFUSED if is_told else 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refuse(text: str, format_name: str = QPY, limits: Limits | None = None) -> BackendFailure:
    with pytest.raises(BackendFailure) as raised:
        decode(text, format_name, limits)
    return raised.value


@pytest.mark.parametrize("version", range(13, MAX_QPY + 1))
def test_every_version_of_qpy_from_13_on_is_read(version: int) -> None:
    circuit = make_ghz(3)
    assert decode(to_text(to_qpy(circuit, version))) == circuit


def test_qpy_may_come_uncompressed() -> None:
    circuit = make_ghz(3)
    assert decode(base64.b64encode(to_qpy(circuit)).decode()) == circuit


@pytest.mark.parametrize(("format_name", "dump"), [(QASM3, qasm3.dumps), (QASM2, qasm2.dumps)])
def test_openqasm_is_read(format_name: str, dump: object) -> None:
    circuit = make_ghz(3)
    assert callable(dump)
    assert decode(dump(circuit), format_name).count_ops() == circuit.count_ops()


def test_another_format_is_refused() -> None:
    with pytest.raises(BackendFailure) as raised:
        Decoder("QOQO", Limits())
    assert raised.value.code == "CIRCUIT_FORMAT_UNSUPPORTED"


@pytest.mark.parametrize("version", [0, 1, 12, MAX_QPY + 1, 255])
def test_other_versions_of_qpy_are_refused_before_they_are_read(version: int) -> None:
    content = bytearray(to_qpy(make_ghz(3)))
    content[6] = version
    failure = refuse(to_text(bytes(content)))
    assert failure.code == "CIRCUIT_FORMAT_UNSUPPORTED"
    assert f"version {version}" in failure.detail


def test_a_file_with_several_programs_is_refused_before_it_is_read() -> None:
    content = bytearray(to_qpy(make_ghz(3)))
    content[10:18] = struct.pack("!Q", 2**63)
    failure = refuse(to_text(bytes(content)))
    assert failure.code == "CIRCUIT_INVALID"
    assert "not one" in failure.detail


@pytest.mark.parametrize(
    "text",
    ["", "?", "AAAA", to_text(b""), to_text(b"QISKIT"), base64.b64encode(b"QISKIT\x0d").decode()],
)
def test_what_is_no_circuit_is_refused(text: str) -> None:
    assert refuse(text).code == "CIRCUIT_INVALID"


def test_a_compressed_circuit_that_is_cut_off_is_refused() -> None:
    packed = zlib.compress(to_qpy(make_ghz(3)))
    failure = refuse(base64.b64encode(packed[:-20]).decode())
    assert (failure.code, failure.detail) == (
        "CIRCUIT_INVALID",
        "The compressed circuit is cut off.",
    )


def test_a_bomb_is_stopped_at_the_limit() -> None:
    limits = Limits(circuit_bytes=8 * MEGABYTE)
    bomb = to_text(to_qpy(make_ghz(3)) + bytes(32 * MEGABYTE))
    tracemalloc.start()
    try:
        assert refuse(bomb, limits=limits).code == "CIRCUIT_TOO_LARGE"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MEGABYTE


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_what_is_too_much_for_its_parser_is_too_large(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def load(_file: object) -> None:
        raise error

    monkeypatch.setattr(qpy, "load", load)
    assert refuse(to_text(to_qpy(make_ghz(3)))).code == "CIRCUIT_TOO_LARGE"


def test_the_limit_is_for_all_circuits_of_a_job_together() -> None:
    content = to_qpy(make_ghz(3))
    decoder = Decoder(QPY, Limits(circuit_bytes=len(content) * 2))
    for _ in range(2):
        decoder.decode(to_text(content))
    with pytest.raises(BackendFailure) as raised:
        decoder.decode(to_text(content))
    assert raised.value.code == "CIRCUIT_TOO_LARGE"


@pytest.mark.parametrize("version", [13, MAX_QPY])
def test_a_file_that_claims_to_have_more_than_it_has_is_refused(version: int) -> None:
    content = to_qpy(make_ghz(3), version)
    start = 20 if version < 16 else 28
    for place, claim in ((5, "!I"), (9, "!I"), (13, "!Q"), (21, "!I"), (25, "!Q"), (33, "!I")):
        claimed = bytearray(content)
        # Before it is read: Qiskit 1 would make room for what is claimed.
        struct.pack_into(claim, claimed, start + place, 2**21)
        detail = (
            "1,000,000 bits at most" if place in (5, 9) else "says that it has more than it has"
        )
        assert detail in refuse(to_text(bytes(claimed))).detail
        struct.pack_into(claim, claimed, start + place, 2**30)
        assert run_limited(to_text(bytes(claimed)), data_bytes=256 * MEGABYTE) == REFUSED


def test_a_damaged_file_is_refused_or_read_within_the_limits_of_a_run() -> None:
    generator = random.Random(7)
    content = to_qpy(make_ghz(5), MAX_QPY)
    outcomes = Counter[int]()
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(generator.randint(1, 6)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        outcomes[run_limited(to_text(bytes(damaged)))] += 1
    assert set(outcomes) == {READ, REFUSED}
    assert outcomes[REFUSED] > outcomes[READ]


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        (QASM2, 'OPENQASM 2.0; include "../../etc/passwd";'),
        (QASM2, 'OPENQASM 2.0; include "conftest.py";'),
        (QASM3, 'OPENQASM 3.0; include "/etc/passwd";'),
        (QASM2, "no circuit"),
        (QASM3, "no circuit"),
        (QASM3, "OPENQASM 3.0; qubit q; nothing q;"),
    ],
)
def test_openqasm_includes_no_file_of_the_host(format_name: str, text: str) -> None:
    failure = refuse(text, format_name)
    assert failure.code == "CIRCUIT_INVALID"
    assert "root:" not in failure.detail


def test_a_file_beside_the_program_cannot_be_included(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    Path("secret.inc").write_text("qreg stolen[1];\n", "utf-8")
    failure = refuse('OPENQASM 2.0; include "secret.inc"; qreg q[1];', QASM2)
    assert failure.code == "CIRCUIT_INVALID"
    assert "unable to find" in failure.detail


def test_openqasm_3_has_a_limit_of_its_own_because_it_is_read_slowly() -> None:
    text = "OPENQASM 3.0;" + " " * MEGABYTE
    assert refuse(text, QASM3).code == "CIRCUIT_TOO_LARGE"


def test_deep_nesting_is_refused_before_it_is_read() -> None:
    brackets = "(" * 50_000, ")" * 50_000
    text = f"OPENQASM 3.0; include 'stdgates.inc'; qubit q; rz({brackets[0]}1{brackets[1]}) q;"
    begin = time.perf_counter()
    assert refuse(text, QASM3).code == "CIRCUIT_TOO_LARGE"
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("hidden", ["(/*)*/", "(//)\n", '(")"'])
def test_brackets_of_comments_and_strings_close_none(hidden: str) -> None:
    begin = time.perf_counter()
    assert (
        refuse(f"OPENQASM 3.0; qubit q; rz({hidden * 20_000}1", QASM3).code == "CIRCUIT_TOO_LARGE"
    )
    assert time.perf_counter() - begin < 1


def test_comments_that_are_not_closed_are_looked_through_once() -> None:
    begin = time.perf_counter()
    assert refuse("OPENQASM 3.0; " + "/* " * 300_000, QASM3).code == "CIRCUIT_INVALID"
    assert time.perf_counter() - begin < 10


def test_brackets_of_comments_nest_nothing() -> None:
    frowns = ":( " * 300
    text = f"OPENQASM 3.0; // {frowns}\n/* {frowns}\n{frowns} */ bit[2] c; // {frowns}"
    assert decode(text, QASM3).num_clbits == 2


HEAD3 = 'OPENQASM 3.0; include "stdgates.inc";'


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        (QASM3, "OPENQASM 3.0; qubit[1000000000] q;"),
        (QASM3, "OPENQASM 3.0; bit[1000000000] c;"),
        (QASM3, "OPENQASM 3.0; qubit[1000 * 1000 * 1000] q;"),
        (QASM3, f"OPENQASM 3.0; {''.join(f'bit[600000] c{n};' for n in range(2))}"),
        (QASM3, f"{HEAD3} qubit[2] q; ctrl(1000000000) @ x q[0], q[1];"),
        (QASM2, "OPENQASM 2.0; qreg q[1000000000];"),
        (QASM2, "OPENQASM 2.0; creg// [1];\n c // [1];\n[ 1000000000 ];"),
        (QASM2, f"OPENQASM 2.0; {''.join(f'creg c{n}[600000];' for n in range(2))}"),
        (QASM2, "OPENQASM 2.0; gate g a { U(0,0,0) a; } qreg q[1000000000];"),
        (QASM2, f"OPENQASM 2.0; qreg q[{'9' * 5000}];"),
    ],
)
def test_bits_are_counted_before_they_are_made(format_name: str, text: str) -> None:
    assert refuse(text, format_name).code == "CIRCUIT_TOO_LARGE"


def test_registers_of_a_circuit_are_not_taken_for_more_than_they_are() -> None:
    text = "OPENQASM 2.0; qreg q[3]; // qreg r[1000000000];\n creg c[3]; measure q -> c;"
    assert decode(text, QASM2).num_qubits == 3
    assert decode(f"{HEAD3} qubit[1 + 2] q; h q;", QASM3).num_qubits == 3


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("OPENQASM 3.0; this is nonsense", "'nonsense' is not expected in line 1, column 23"),
        ("OPENQASM 3.0;\nqubit q;\nh q[0", "line 3, column 6"),
        ("OPENQASM 3.0; @@@", "line 1"),
        ("OPENQASM 3.0; \x00", "OPEN_QASM_V3"),
    ],
)
def test_it_is_said_where_a_text_is_no_openqasm_3(text: str, place: str) -> None:
    with pytest.raises(BackendFailure) as raised:
        Decoder(QASM3, Limits()).decode(text)
    assert raised.value.code == "CIRCUIT_INVALID"
    assert place in raised.value.detail
