"""Guards of `external`: ids and answers that are none, and cancellations at each moment."""

from __future__ import annotations

from typing import Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from platform_quantum.backend import BackendFailure, VendorJob, external  # noqa: E402
from platform_quantum.backend.held_run import Cancelled  # noqa: E402

from ..support.vendors import PROFILE, Held, Vendor, make, refuse  # noqa: E402
from ..support.wire import make_data, make_ghz, run_over_wire  # noqa: E402


def test_a_vendor_that_tells_no_jobs_is_asked_for_none(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = external(vendor.submit, vendor.poll, vendor.cancel, None, profile=PROFILE)
    vendor.faults["submit"] = [ConnectionError("away")]
    failure = refuse(run)
    assert (failure.code, "may have been submitted" in failure.detail) == ("BACKEND_OFFLINE", True)
    vendor.calls.clear()
    monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "2")
    assert refuse(run).code == "VENDOR_ERROR"
    held.was_lost = True
    with pytest.raises(Exception, match=None) as raised:
        run_over_wire(run, make_data(make_ghz(2)), shots=5)
    assert raised.value.code == "WORKER_LOST"  # type: ignore[attr-defined]
    assert vendor.calls == []


@pytest.mark.parametrize("number", [None, "", 7, "x" * 1001, "x" * 10_000_000, "a\nb", "K\u00f6ln"])
def test_an_id_that_cannot_be_kept_is_none(held: Held, vendor: Vendor, number: Any) -> None:
    vendor.submit = lambda _: number  # type: ignore[assignment,method-assign]
    failure = refuse(make(vendor))
    assert (failure.code, len(failure.detail) < 1000) == ("VENDOR_ERROR", True)
    assert (set(vendor.calls), held.handle) == ({"find"}, None)
    vendor.jobs["job-7"] = VendorJob([{"shots": 1024, "bits": 2}], "0192")
    result = run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert (result["metadata"]["vendor_job_id"], held.handle) == ("job-7", '{"id": "job-7"}')


def test_the_longest_id_fits_into_a_handle(held: Held, vendor: Vendor) -> None:
    longest = '"' * 1000
    vendor.submit = lambda _: longest  # type: ignore[method-assign]
    vendor.poll = lambda _: [{"counts": {"00": 1024}}]  # type: ignore[method-assign]
    run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert held.handle is not None and len(held.handle) <= 4096


@pytest.mark.parametrize("found", [7, "x" * 2000, b"id"])
def test_an_id_that_is_found_is_checked_as_well(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, found: Any
) -> None:
    vendor.find = lambda _: found  # type: ignore[assignment,method-assign]
    held.was_lost = True
    monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "2")
    with pytest.raises(Exception, match=None) as raised:
        run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert raised.value.code == "WORKER_LOST"  # type: ignore[attr-defined]
    assert held.handle is None


@pytest.mark.parametrize(
    "answer",
    [7, {"counts": {"00": 5}}, ["00"], [None], [{"counts": {"00": 5.5j}}], [{"counts": {b"0": 5}}]],
)
def test_garbage_is_the_vendors_error(held: Held, vendor: Vendor, answer: Any) -> None:
    vendor.poll = lambda _: answer  # type: ignore[method-assign]
    failure = refuse(make(vendor), shots=5)
    assert (failure.code, len(failure.detail) < 1000) == ("VENDOR_ERROR", True)
    assert held.handle == '{"id": "job-0"}'


@pytest.mark.usefixtures("held")
def test_states_of_10_mb_are_cut_in_the_log(
    vendor: Vendor, capsys: pytest.CaptureFixture[str]
) -> None:
    states: list[Any] = ["x" * 10_000_000] * 2
    poll = vendor.poll
    vendor.poll = lambda job: states.pop() if states else poll(job)  # type: ignore[method-assign]
    run_over_wire(make(vendor), make_data(make_ghz(2)), shots=5)
    assert len(capsys.readouterr().out) < 1000


class Cancellation:
    """That of the platform: raised where the run is ready for it, at the round that is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.left = at
        monkeypatch.setattr("platform_quantum.backend.vendor.cancellable", lambda: self)

    def __enter__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled

    def __exit__(self, *_: object) -> None:
        pass


def test_a_cancellation_that_a_library_has_swallowed_is_told_again(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.handle = '{"id": "job-0"}'
    Cancellation(monkeypatch, 3)

    def poll(_: str) -> None:
        vendor.calls.append("poll")
        if len(vendor.calls) > 9:
            raise BackendFailure("VENDOR_ERROR", "the cancellation was not told")

    vendor.poll = poll  # type: ignore[method-assign]
    with pytest.raises(Cancelled):
        run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert vendor.calls == ["poll", "poll", "poll", "cancel"]


@pytest.mark.usefixtures("held")
def test_what_was_cancelled_before_is_not_submitted(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cancellation(monkeypatch, 1)
    with pytest.raises(Cancelled):
        run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert vendor.calls == []


def test_one_that_comes_while_the_handle_is_kept_reaches_the_vendor(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cancellation(monkeypatch, 2)
    with pytest.raises(Cancelled):
        run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert (vendor.calls, held.handle) == (["submit", "cancel"], None)


def test_a_cancellation_is_tried_again_at_the_vendor(
    held: Held, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.handle = '{"id": "job-0"}'
    vendor.faults["cancel"] = [ConnectionError("away")] * 2
    Cancellation(monkeypatch, 0)
    with pytest.raises(Cancelled):
        run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert vendor.calls == ["cancel"] * 3


@pytest.mark.usefixtures("held")
def test_nothing_is_asked_before_the_handle_is_kept(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang_up(_: str) -> None:
        raise OSError("Node has hung up")

    monkeypatch.setattr("platform_quantum.backend.vendor.keep_handle", hang_up)
    with pytest.raises(OSError, match="hung up"):
        run_over_wire(make(vendor), make_data(make_ghz(2)))
    assert vendor.calls == ["submit"]


def test_a_profile_that_the_vendor_tells_is_asked_for_before_the_submission_alone(
    held: Held, vendor: Vendor
) -> None:
    asked = []

    def tell() -> dict[str, Any]:
        asked.append(list(vendor.calls))
        return PROFILE

    run_over_wire(make(vendor, profile=tell), make_data(make_ghz(2)))
    assert asked == [[]]
    held.handle = '{"id": "job-0"}'
    assert "pubs" in run_over_wire(make(vendor, profile=tell), make_data(make_ghz(2)))
    assert len(asked) == 1


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    ("error", "code"),
    [(ConnectionError("away"), "BACKEND_OFFLINE"), (KeyError("device"), "VENDOR_ERROR")],
)
def test_a_vendor_that_does_not_say_what_its_device_is_gets_no_job(
    vendor: Vendor, error: Exception, code: str
) -> None:
    def tell() -> dict[str, Any]:
        raise RuntimeError("a library's own") from error

    failure = refuse(make(vendor, profile=tell))
    assert (failure.code, "library's own" in failure.detail) == (code, True)
    assert vendor.calls == []
