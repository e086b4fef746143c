"""The adapter of IQM: its client asks a server on loopback, which runs jobs on a fake device."""

from __future__ import annotations

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("iqm.qiskit_iqm", "qiskit_aer")

from iqm.qiskit_iqm.fake_backends.fake_adonis import IQMFakeAdonis  # noqa: E402
from qiskit import QuantumCircuit, transpile  # noqa: E402

from ..support.wire import make_ghz  # noqa: E402
from .support import (  # noqa: E402
    EXECUTION,
    SECRET,
    check_missing,
    find_most,
    load_adapter,
    refuse,
    run_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


class IqmServer:
    """A server of IQM's, as far as its client asks it, with one computer of five qubits."""

    def __init__(self) -> None:
        self.device = IQMFakeAdonis()
        self.jobs: dict[str, dict[str, Any]] = {}
        self.state = "completed"
        self.refusal: tuple[int, str] | None = None
        self.requests: list[str] = []
        handler = type("Handler", (BaseHTTPRequestHandler,), {"log_message": lambda *_: None})
        for method in ("GET", "POST"):
            setattr(
                handler, f"do_{method}", lambda asked, method=method: self._answer(asked, method)
            )
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, asked: BaseHTTPRequestHandler, method: str) -> None:
        body = asked.rfile.read(int(asked.headers.get("content-length", 0)))
        status, found = 401, {"message": "who is there?", "source": "iqm-server"}
        if asked.headers["authorization"] == f"Bearer {SECRET}":
            path = asked.path.split("?")[0].removeprefix("/api/v1")
            self.requests.append(f"{method} {path}")
            status, found = self._find(method, path.strip("/").split("/"), body)
        text = found.encode() if isinstance(found, str) else json.dumps(found).encode()
        asked.send_response(status)
        asked.send_header("content-length", str(len(text)))
        asked.end_headers()
        asked.wfile.write(text)

    def _find(self, method: str, path: list[str], body: bytes) -> tuple[int, Any]:
        if path == ["quantum-computers"]:
            computer = {"id": str(uuid.UUID(int=1)), "alias": "adonis", "display_name": "Adonis"}
            return 200, {"quantum_computers": [computer]}
        if path[-1] == "dynamic-quantum-architecture":
            return 200, self.device.architecture.model_dump_json()
        if method == "POST" and path == ["jobs", "adonis", "circuit"]:
            return self._submit(json.loads(body))
        job = self.jobs[path[1]]
        if path[2:] == ["cancel"]:
            job["status"] = "cancelled"
            return 200, {}
        return 200, job["measured"] if path[2:] == ["artifacts", "measurements"] else self._tell(
            job
        )

    def _submit(self, definition: dict[str, Any]) -> tuple[int, Any]:
        if self.refusal is not None:
            status, message = self.refusal
            return status, {"message": message, "source": "iqm-server"}
        number = str(uuid.uuid4())
        self.jobs[number] = {
            "id": number,
            "status": self.state,
            "definition": definition,
            "measured": [self._measure(one, definition["shots"]) for one in definition["circuits"]],
        }
        return 200, self._tell(self.jobs[number])

    def _tell(self, job: dict[str, Any]) -> dict[str, Any]:
        errors = [{"message": "too warm", "source": "iqm-station-control"}]
        told = {"id": job["id"], "type": "circuit", "status": job["status"]}
        return {**told, "errors": errors if job["status"] == "failed" else []}

    def _measure(self, circuit: dict[str, Any], shots: int) -> dict[str, list[list[int]]]:
        """By the noisy simulator of the fake device."""
        keys = [one["args"]["key"] for one in circuit["instructions"] if one["name"] == "measure"]
        made = QuantumCircuit(self.device.num_qubits, len(keys))
        for one in circuit["instructions"]:
            places = [self.device.qubit_name_to_index(name) for name in one["locus"]]
            if one["name"] == "prx":
                made.r(one["args"]["angle"], one["args"]["phase"], places[0])
            elif one["name"] == "cz":
                made.cz(*places)
            elif one["name"] == "measure":
                made.measure(places[0], keys.index(one["args"]["key"]))
        counts = self.device.run(made, shots=shots).result().get_counts()
        rows = [shot[::-1] for shot, count in counts.items() for _ in range(count)]
        return {key: [[int(row[bit])] for row in rows] for bit, key in enumerate(keys)}


@pytest.fixture
def vendor() -> Iterator[IqmServer]:
    server = IqmServer()
    yield server
    server.close()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, vendor: IqmServer) -> ModuleType:
    monkeypatch.setenv("IQM_TOKEN", SECRET)
    monkeypatch.setenv("IQM_SERVER_URL", vendor.url)
    monkeypatch.setenv("IQM_QUANTUM_COMPUTER", "adonis")
    return load_adapter("iqm")


def test_it_describes_the_computer(adapter: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IQM_PRICE", '{"currency": "EUR", "perJob": "0.5"}')
    described = adapter.describe()
    configuration = described["configuration"]
    assert (described["type"], described["display_name"]) == ("QPU", "IQM adonis")
    assert (configuration["qubit_count"], configuration["max_pubs_per_job"]) == (5, 100)
    assert {"r", "cz"} <= {gate["name"] for gate in configuration["gates"]}
    graph = configuration["connectivity"]["graph"]
    pairs = {tuple(sorted((one, other))) for one in graph for other in graph[one]}
    assert pairs == {("0", "2"), ("1", "2"), ("2", "3"), ("2", "4")}
    assert configuration["shots_range"] == {"min": 1, "max": 20_000}
    assert described["price"] == {"currency": "EUR", "perJob": "0.5"}


def test_a_circuit_is_run_and_its_id_kept(
    adapter: ModuleType, vendor: IqmServer, kept: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_counts(adapter, make_ghz(3), shots=400)
    (pub,) = result["pubs"]
    assert sum(pub["counts"].values()) == 400
    assert pub["counts"]["000"] + pub["counts"]["111"] > 250
    ((number, job),) = vendor.jobs.items()
    assert (result["metadata"]["vendor_job_id"], kept) == (
        number,
        [f'{{"id": "{number}"}}'],
    )
    assert job["definition"]["circuits"][0]["metadata"] == {"execution": EXECUTION}
    assert SECRET not in capsys.readouterr().out


def test_bits_are_in_the_order_of_the_circuit_and_circuits_in_that_of_the_job(
    adapter: ModuleType, vendor: IqmServer
) -> None:
    turned = QuantumCircuit(3, 3)
    turned.x(2)
    turned.measure([2, 0], [0, 1])
    placed = QuantumCircuit(5, 1)
    placed.x(4)
    placed.measure(4, 0)
    placed = transpile(placed, vendor.device, initial_layout=range(5))
    first, second = run_counts(adapter, turned, placed, shots=300)["pubs"]
    assert (find_most(first), find_most(second)) == ("001", "1")
    instructions = next(iter(vendor.jobs.values()))["definition"]["circuits"][1]["instructions"]
    assert {name for one in instructions for name in one["locus"]} == {"QB5"}


def test_a_job_that_was_submitted_is_only_asked_for(adapter: ModuleType, vendor: IqmServer) -> None:
    run_counts(adapter, make_ghz(2), shots=10)
    vendor.requests.clear()
    assert run_counts(adapter, make_ghz(2), shots=10)["metadata"]["vendor_job_id"] in vendor.jobs
    assert {request.split()[0] for request in vendor.requests} == {"GET"}


def test_a_job_that_waits_is_cancelled_and_another_is_not(
    adapter: ModuleType, vendor: IqmServer
) -> None:
    vendor.state = "waiting"
    number = adapter.submit(make_job())
    assert adapter.poll(number) == "waiting"
    adapter.cancel(number)
    assert vendor.jobs[number]["status"] == "cancelled"
    adapter.cancel(number)
    assert vendor.requests.count(f"POST /jobs/{number}/cancel") == 1


def make_job(**more: Any) -> Any:
    from platform_quantum.backend import VendorJob, circuits

    return VendorJob([circuits.to_plain(make_ghz(2), 10)], EXECUTION, **more)


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ((403, "no budget"), "VENDOR_REJECTED"),
        ((422, "not calibrated"), "VENDOR_REJECTED"),
        ((429, "too many"), "BACKEND_OFFLINE"),
        ((503, "maintenance"), "VENDOR_ERROR"),
    ],
)
def test_refusals_have_codes(
    adapter: ModuleType, vendor: IqmServer, refusal: tuple[int, str], code: str
) -> None:
    vendor.refusal = refusal
    failure = refuse(adapter)
    assert (failure.code, refusal[1] in failure.detail) == (code, True)
    assert ("may have been submitted" in failure.detail) == (refusal[0] == 503)


def test_a_job_that_has_failed_says_why(adapter: ModuleType, vendor: IqmServer) -> None:
    vendor.state = "failed"
    failure = refuse(adapter)
    assert (failure.code, "too warm" in failure.detail) == ("VENDOR_ERROR", True)


def test_a_key_that_is_missing_or_wrong_is_told(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_missing(monkeypatch, adapter, "IQM_TOKEN", "IQM_QUANTUM_COMPUTER")
    monkeypatch.setenv("IQM_TOKEN", "another")
    adapter.connect.cache_clear()
    with pytest.raises(Exception, match="who is there") as raised:
        adapter.describe()
    assert "another" not in str(raised.value)


def test_circuits_with_different_shots_are_refused(adapter: ModuleType) -> None:
    job = make_job()
    job.circuits.append({**job.circuits[0], "shots": 20})
    with pytest.raises(Exception, match="SHOTS_OUT_OF_RANGE"):
        adapter.submit(job)
