"""What the adapters of vendors share: settings, prices, refusals, and shots by qubit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister  # noqa: E402

from platform_quantum.backend import BackendFailure, VendorJob, circuits  # noqa: E402
from platform_quantum.backend.adapters import (  # noqa: E402
    read_price,
    read_setting,
    read_shots,
    read_status,
    refusals,
)

from ..support.wire import make_data, make_ghz  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_a_setting_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", " key\n")
    assert (read_setting("VENDOR_KEY"), read_setting("VENDOR_URL", "there")) == ("key", "there")
    monkeypatch.setenv("VENDOR_KEY", " ")
    with pytest.raises(BackendFailure, match="VENDOR_KEY is not set") as raised:
        read_setting("VENDOR_KEY")
    assert raised.value.code == "BACKEND_OFFLINE"


def test_a_price_is_json_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VENDOR_PRICE", raising=False)
    assert read_price("VENDOR_PRICE") == {}
    monkeypatch.setenv("VENDOR_PRICE", '{"currency": "EUR", "perJob": "0.3"}')
    assert read_price("VENDOR_PRICE") == {"price": {"currency": "EUR", "perJob": "0.3"}}
    for text in ("0.3", "EUR", "[]"):
        monkeypatch.setenv("VENDOR_PRICE", text)
        with pytest.raises(BackendFailure, match="VENDOR_PRICE is no price"):
            read_price("VENDOR_PRICE")


class Answered(Exception):
    def __init__(self, status: int, **more: Any) -> None:
        super().__init__(f"answered {status}")
        self.__dict__.update(more or {"status_code": status})


def wrap(error: Exception) -> Exception:
    """As libraries do."""
    outer = RuntimeError("it did not work")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Answered(403), 403),
        (wrap(Answered(404)), 404),
        (Answered(0, response=SimpleNamespace(status_code=422)), 422),
        (Answered(0, response={"ResponseMetadata": {"HTTPStatusCode": 400}}), 400),
        (Answered(0, response=None), 0),
        (ConnectionError("away"), 0),
    ],
)
def test_the_status_of_an_answer_is_found(error: Exception, status: int) -> None:
    assert read_status(error) == status


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "VENDOR_REJECTED"), (403, "VENDOR_REJECTED"), (429, "BACKEND_OFFLINE")],
)
def test_an_answer_that_says_no_ends_the_job(status: int, code: str) -> None:
    with pytest.raises(BackendFailure, match=f"answered {status}") as raised, refusals():
        raise Answered(status)
    assert raised.value.code == code


@pytest.mark.parametrize("status", [0, 200, 408, 409, 425, 500, 503])
def test_what_leaves_it_open_whether_the_job_is_there_is_no_refusal(status: int) -> None:
    with pytest.raises(Answered), refusals():
        raise Answered(status)
    with pytest.raises(BackendFailure, match="of its own"), refusals():
        raise BackendFailure("GATE_UNSUPPORTED", "of its own")


def test_shots_are_one_number_where_the_vendor_takes_one() -> None:
    job = VendorJob([{"shots": 7}, {"shots": 7}], "0192")
    assert read_shots(job) == 7
    with pytest.raises(BackendFailure) as raised:
        read_shots(VendorJob([{"shots": 7}, {"shots": 8}], "0192"))
    assert raised.value.code == "SHOTS_OUT_OF_RANGE"


def finish(circuit: QuantumCircuit, output: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    data = {**make_data(circuit), "shape": "counts"}
    answer = circuits.finish(data, {"shots": 3}, more.get("profile", {}), [output])
    counts: dict[str, Any] = answer["pubs"][0]["counts"]
    return counts


def test_values_of_qubits_become_bits_of_the_circuit() -> None:
    one, other = ClassicalRegister(1, "one"), ClassicalRegister(2, "other")
    circuit = QuantumCircuit(QuantumRegister(3, "q"), one, other)
    circuit.measure([2, 0, 2], [0, 1, 2])
    assert finish(circuit, {"measured": ["100", "001", "011"]}) == {"010": 1, "101": 2}
    assert finish(circuit, {"measured": ["10", "01", "01"], "qubits": [0, 2]}) == {
        "010": 1,
        "101": 2,
    }


@pytest.mark.parametrize(
    "output",
    [
        {"measured": ["000", "000", "0x0"]},
        {"measured": ["0", "0", "0"]},
        {"measured": ["00", "00", "00"], "qubits": [0, 1]},
        {"measured": [None] * 3},
        {"measured": 7},
        {"counts": {"000": -1, "111": 4}},
        {"counts": {"000": 10**12}},
        {"counts": {"zzz": 3}},
        {"counts": [3]},
        {"memory": ["0xfffff"] * 3},
        {},
    ],
)
def test_what_does_not_fit_is_the_vendors_error(output: dict[str, Any]) -> None:
    with pytest.raises(BackendFailure) as raised:
        finish(make_ghz(3), output)
    assert raised.value.code == "VENDOR_ERROR"


def test_a_device_that_has_changed_since_does_not_lose_what_it_has_measured() -> None:
    profile = {"qubits": 1, "gates": ["rz"], "shots": [1, 1], "options": []}
    output = {"counts": {"000": 3}}
    assert finish(make_ghz(3), output, profile=profile) == {"000": 3}


def test_a_qubit_is_used_after_its_measurement() -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.measure(0, 0)
    circuit.barrier()
    circuit.x(1)
    circuit.measure(1, 1)
    assert circuits.read_measurements(circuits.to_plain(circuit, 1)["operations"]) == {0: 0, 1: 1}
    circuit.x(0)
    with pytest.raises(BackendFailure, match="used after"):
        circuits.read_measurements(circuits.to_plain(circuit, 1)["operations"])
