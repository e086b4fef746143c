"""The adapter of Amazon Braket: boto3 as it is, its requests answered here by a local simulator."""

from __future__ import annotations

import io
import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

from ..support.needs import need_packages

need_packages("braket.aws", "boto3")

os.environ["NUMBA_DISABLE_JIT"] = "1"

from botocore.awsrequest import AWSResponse  # noqa: E402
from braket.default_simulator import StateVectorSimulator  # noqa: E402
from braket.ir.openqasm import Program  # noqa: E402
from qiskit import QuantumCircuit  # noqa: E402

from ..support.wire import make_ghz  # noqa: E402
from .support import (  # noqa: E402
    EXECUTION,
    SECRET,
    check_missing,
    load_adapter,
    refuse,
    run_counts,
)

if TYPE_CHECKING:
    from types import ModuleType

DEVICE = "arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet"
CAPABILITIES = {
    "service": {"shotsRange": [1, 20_000], "deviceCost": {"price": 0.00145, "unit": "shot"}},
    "action": {
        "braket.ir.openqasm.program": {
            "supportedOperations": ["h", "x", "rx", "ry", "rz", "cnot", "cz", "swap", "prx", "xx"]
        }
    },
    "paradigm": {
        "qubitCount": 4,
        "connectivity": {
            "fullyConnected": False,
            "connectivityGraph": {"1": ["2"], "2": ["3", "10"], "3": ["10"]},
        },
    },
}


class Body(io.BytesIO):
    """Of an answer, as boto reads it."""

    def stream(self, **_: Any) -> Any:
        yield self.read()


class Cloud:
    """Braket and S3, as far as they are asked."""

    def __init__(self) -> None:
        self.tasks: dict[str, dict[str, Any]] = {}
        self.status = "COMPLETED"
        self.refusal: tuple[int, str] | None = None
        self.requests: list[str] = []

    def answer(self, request: Any, **_: Any) -> AWSResponse:
        path = unquote(urlsplit(request.url).path)
        self.requests.append(f"{request.method} {path}")
        assert SECRET not in request.url and SECRET.encode() not in (request.body or b"")
        status, found = self._find(request.method, path, request.body)
        headers = {"content-type": "application/json"}
        if status >= 400:
            headers["x-amzn-errortype"] = "AnException"
        return AWSResponse(request.url, status, headers, Body(json.dumps(found).encode()))

    def _find(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        if path.startswith("/device/"):
            device = {"deviceArn": DEVICE, "deviceName": "Garnet", "providerName": "IQM"}
            more = {"deviceType": "QPU", "deviceStatus": "ONLINE"}
            return 200, {**device, **more, "deviceCapabilities": json.dumps(CAPABILITIES)}
        if path == "/quantum-tasks":
            return self._search(json.loads(body))
        if (method, path) == ("POST", "/quantum-task"):
            return self._create(json.loads(body))
        if path.endswith("results.json"):
            return 200, json.loads(self._find_task(path.split("/")[-2])["result"])
        if path.endswith("/cancel"):
            task = self._find_task(path.removesuffix("/cancel"))
            task["status"] = "CANCELLING"
            return 200, {
                "quantumTaskArn": task["quantumTaskArn"],
                "cancellationStatus": "CANCELLING",
            }
        return 200, {**self._find_task(path), "result": None}

    def _find_task(self, path: str) -> dict[str, Any]:
        return next(task for task in self.tasks.values() if path.endswith(task["id"]))

    def _search(self, asked: dict[str, Any]) -> tuple[int, Any]:
        (wanted,) = asked["filters"]
        _, key = wanted["name"].split(":")
        tasks = [task for task in self.tasks.values() if task["tags"].get(key) in wanted["values"]]
        return 200, {"quantumTasks": [{**task, "result": None} for task in tasks]}

    def _create(self, asked: dict[str, Any]) -> tuple[int, Any]:
        if self.refusal is not None:
            return self.refusal[0], {"message": self.refusal[1]}
        token = asked["clientToken"]
        if token not in self.tasks:
            number = f"task-{len(self.tasks)}"
            source = json.loads(asked["action"])["source"]
            program = Program(source=source)
            result = StateVectorSimulator().run(program, shots=asked["shots"])
            self.tasks[token] = {
                "id": number,
                "quantumTaskArn": f"arn:aws:braket:eu-north-1:123456789012:quantum-task/{number}",
                "deviceArn": asked["deviceArn"],
                "deviceParameters": "{}",
                "status": self.status,
                "failureReason": "it was too warm",
                "createdAt": "2026-11-28T12:00:00Z",
                "outputS3Bucket": asked["outputS3Bucket"],
                "outputS3Directory": f"{asked['outputS3KeyPrefix']}/{number}",
                "shots": asked["shots"],
                "tags": asked["tags"],
                "source": source,
                "result": result.json(),
            }
        return 201, {"quantumTaskArn": self.tasks[token]["quantumTaskArn"]}


@pytest.fixture
def vendor() -> Cloud:
    return Cloud()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, vendor: Cloud) -> ModuleType:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("BRAKET_DEVICE", DEVICE)
    monkeypatch.setenv("BRAKET_BUCKET", "ours")
    program = load_adapter("braket-qpu")
    session = program.boto3.Session

    def make_session(*words: Any) -> Any:
        made = session(*words)
        made.events.register("before-send", vendor.answer)
        return made

    monkeypatch.setattr(program.boto3, "Session", make_session)
    return program


def test_it_describes_the_device(adapter: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAKET_PRICE", '{"currency": "USD", "perJob": "0.3", "perShot": "0.00145"}')
    described = adapter.describe()
    configuration = described["configuration"]
    assert (described["type"], described["display_name"]) == ("QPU", "Garnet")
    assert (configuration["qubit_count"], configuration["max_pubs_per_job"]) == (4, 1)
    assert {"h", "cx", "rxx", "r"} <= {gate["name"] for gate in configuration["gates"]}
    assert configuration["connectivity"]["graph"] == {
        "0": ["1"],
        "1": ["2", "3"],
        "2": ["3"],
        "3": [],
    }
    assert configuration["shots_range"] == {"min": 1, "max": 20_000}
    assert described["price"]["perShot"] == "0.00145"
    assert adapter.connect().region == "eu-north-1"


def test_a_circuit_is_run_and_found_by_its_tag(
    adapter: ModuleType, vendor: Cloud, kept: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_counts(adapter, make_ghz(3), shots=400)
    (pub,) = result["pubs"]
    assert set(pub["counts"]) == {"000", "111"}
    arn = vendor.tasks[EXECUTION]["quantumTaskArn"]
    assert (result["metadata"]["vendor_job_id"], kept) == (arn, [f'{{"id": "{arn}"}}'])
    assert (adapter.find(EXECUTION), adapter.find("another")) == (arn, None)
    assert SECRET not in capsys.readouterr().out


def test_bits_are_in_the_order_of_the_circuit(adapter: ModuleType, vendor: Cloud) -> None:
    turned = QuantumCircuit(4, 4)
    turned.sx(2)
    turned.sx(2)
    turned.barrier()
    turned.measure([2, 0], [1, 3])
    assert run_counts(adapter, turned, shots=30)["pubs"][0]["counts"] == {"0010": 30}
    assert re.findall(r"measure q\[(\d)\]", vendor.tasks[EXECUTION]["source"]) == ["0", "2"]


def test_a_job_that_was_submitted_is_only_asked_for(adapter: ModuleType, vendor: Cloud) -> None:
    run_counts(adapter, make_ghz(2), shots=10)
    vendor.requests.clear()
    run_counts(adapter, make_ghz(2), shots=10)
    assert {request.split()[0] for request in vendor.requests} == {"GET"}


def make_job() -> Any:
    from platform_quantum.backend import VendorJob, circuits

    return VendorJob([circuits.to_plain(make_ghz(1), 10)], EXECUTION)


def test_a_job_that_waits_is_cancelled_and_another_is_not(
    adapter: ModuleType, vendor: Cloud
) -> None:
    vendor.status = "QUEUED"
    arn = adapter.submit(make_job())
    assert adapter.submit(make_job()) == arn  # by its client token
    assert adapter.poll(arn) == "QUEUED"
    adapter.cancel(arn)
    adapter.cancel(arn)
    assert adapter.poll(arn) == "CANCELLING"
    assert [request.split()[0] for request in vendor.requests].count("PUT") == 1


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ((402, "no quota"), "VENDOR_REJECTED"),
        ((429, "too many"), "BACKEND_OFFLINE"),
        ((409, "this token was used"), "VENDOR_ERROR"),
        ((503, "maintenance"), "VENDOR_ERROR"),
    ],
)
def test_refusals_have_codes(
    adapter: ModuleType, vendor: Cloud, refusal: tuple[int, str], code: str
) -> None:
    vendor.refusal = refusal
    failure = refuse(adapter, shots=10)
    assert (failure.code, refusal[1] in failure.detail) == (code, True)
    assert ("POST /quantum-tasks" in vendor.requests) == (code == "VENDOR_ERROR")


def test_a_job_that_has_failed_says_why(adapter: ModuleType, vendor: Cloud) -> None:
    vendor.status = "FAILED"
    failure = refuse(adapter, shots=10)
    assert (failure.code, "too warm" in failure.detail) == ("VENDOR_ERROR", True)


def test_what_braket_cannot_do_is_refused(adapter: ModuleType, vendor: Cloud) -> None:
    again = QuantumCircuit(1, 2)
    again.measure(0, 0)
    again.x(0)
    again.measure(0, 1)
    reset = QuantumCircuit(1, 1)
    reset.reset(0)
    reset.measure(0, 0)
    assert [refuse(adapter, one).code for one in (again, reset)] == ["GATE_UNSUPPORTED"] * 2
    assert refuse(adapter, make_ghz(2), make_ghz(2)).code == "TOO_MANY_CIRCUITS"
    assert vendor.tasks == {}


def test_a_key_that_is_missing_is_told(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "BRAKET_DEVICE", "BRAKET_BUCKET")
    check_missing(monkeypatch, adapter, *names)
