"""A backend whose jobs run at a vendor: what is asked of the vendor, and when nothing is."""

from __future__ import annotations

import json

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit  # noqa: E402

from platform_quantum.backend import BackendFailure, VendorJob, circuits  # noqa: E402

from ..support.vendors import Held, Vendor, make, refuse  # noqa: E402
from ..support.wire import make_data, make_ghz, run_over_wire  # noqa: E402


def test_a_job_is_submitted_with_its_tag_and_its_result_has_the_shots_of_the_vendor(
    held: Held, vendor: Vendor
) -> None:
    result = run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5, level=2)
    (job,) = vendor.jobs.values()
    assert (job.tag, job.options, held.handle) == ("0192", {"level": 2}, '{"id": "job-0"}')
    assert job.circuits[0]["operations"][:2] == [["h", [], [0], []], ["cx", [], [0, 1], []]]
    assert (result["pubs"][0]["shots"], result["metadata"]["vendor_job_id"]) == (5, "job-0")
    assert vendor.calls == ["submit", "poll"]


def test_an_attempt_with_a_handle_only_asks(held: Held, vendor: Vendor) -> None:
    run = make(vendor)
    run_over_wire(run, make_data(make_ghz(2)), shots=5)
    vendor.calls.clear()
    held.was_lost = True
    result = run_over_wire(run, make_data(make_ghz(2)), shots=5)
    assert (result["metadata"]["vendor_job_id"], vendor.calls) == ("job-0", ["poll"])


def test_an_attempt_after_a_lost_one_finds_the_job_by_its_tag(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor.jobs["job-7"] = VendorJob([{"shots": 5, "bits": 2}], "0192")
    held.was_lost = True
    monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "2")
    result = run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert (result["metadata"]["vendor_job_id"], held.handle) == ("job-7", '{"id": "job-7"}')
    assert vendor.calls == ["find", "poll"]


@pytest.mark.parametrize("faults", [[], [ConnectionError("away")] * 9])
def test_what_the_vendor_does_not_tell_is_not_submitted_again(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, faults: list[Exception]
) -> None:
    held.was_lost = True
    monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "2")
    vendor.faults["find"] = faults
    with pytest.raises(Exception, match=None) as raised:
        run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert raised.value.code == "WORKER_LOST"  # type: ignore[attr-defined]
    assert set(vendor.calls) == {"find"}


@pytest.mark.usefixtures("held")
def test_another_attempt_after_a_failure_submits_what_is_not_there(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "2")
    run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert vendor.calls == ["find", "find", "find", "submit", "poll"]


@pytest.mark.usefixtures("held")
def test_a_submission_whose_answer_is_lost_is_looked_for(vendor: Vendor) -> None:
    vendor.faults["submit"] = [TimeoutError("no answer")]
    result = run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert result["metadata"]["vendor_job_id"] == "job-0"
    assert vendor.calls == ["submit", "find", "poll"]


def test_failures_have_the_codes_of_the_vendor(held: Held, vendor: Vendor) -> None:
    vendor.faults["submit"] = [BackendFailure("VENDOR_REJECTED", "no budget")]
    assert refuse(make(vendor)).code == "VENDOR_REJECTED"
    vendor.faults["poll"] = [ConnectionError("away"), BackendFailure("VENDOR_ERROR", "broken")]
    assert refuse(make(vendor, patience=60)).code == "VENDOR_ERROR"
    vendor.faults["poll"] = [ConnectionError("away")] * 9
    held.handle = None
    assert refuse(make(vendor)).code == "BACKEND_OFFLINE"
    vendor.jobs.clear()
    vendor.find = lambda _: None  # type: ignore[method-assign]
    vendor.faults["submit"] = [ConnectionError("away")]
    held.handle = None
    assert refuse(make(vendor)).code == "BACKEND_OFFLINE"


def test_what_does_not_fit_the_circuits_is_the_vendors_error(held: Held, vendor: Vendor) -> None:
    vendor.poll = lambda _: [{"counts": {"00": 4}}]  # type: ignore[method-assign]
    assert refuse(make(vendor), shots=5).code == "VENDOR_ERROR"
    held.handle = None
    vendor.poll = lambda _: [{"counts": {"00": 5}}] * 2  # type: ignore[method-assign]
    assert refuse(make(vendor), shots=5).code == "VENDOR_ERROR"


@pytest.mark.usefixtures("held")
def test_what_is_refused_or_only_tried_reaches_no_vendor(vendor: Vendor) -> None:
    run = make(vendor)
    assert refuse(run, make_data(make_ghz(5))).code == "TOO_MANY_QUBITS"
    assert refuse(run, make_data("AAAA")).code == "CIRCUIT_INVALID"
    assert run_over_wire(run, make_data(make_ghz(2)), dry_run=True)["valid"] is True
    assert vendor.calls == []


def test_plain_circuits_become_those_of_qiskit_again() -> None:
    circuit = QuantumCircuit(3, 2)
    circuit.h(0)
    circuit.rz(0.25, 1)
    circuit.barrier()
    circuit.delay(100, 2)
    circuit.cx(2, 0)
    circuit.reset(1)
    circuit.measure([2, 0], [1, 0])
    plain = json.loads(json.dumps(circuits.to_plain(circuit, 7)))
    assert circuits.to_plain(circuits.to_qiskit(plain), 7) == {**plain, "name": circuit.name}
    with pytest.raises(BackendFailure) as raised:
        looped = QuantumCircuit(1)
        with looped.for_loop(range(2)):
            looped.h(0)
        circuits.to_plain(looped, 1)
    assert raised.value.code == "GATE_UNSUPPORTED"
