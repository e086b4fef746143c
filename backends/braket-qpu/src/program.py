"""qpu.braket: a device of Amazon Braket, by the Amazon Braket SDK.

AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (secrets) say whose account. BRAKET_DEVICE is the ARN
of the device, BRAKET_BUCKET the bucket that Braket writes results to; BRAKET_PRICE what jobs cost.
"""

import functools
import json
import os

import boto3
from botocore.config import Config
from braket.aws import AwsSession
from braket.ir.openqasm import Program
from braket.tasks import GateModelQuantumTaskResult

from platform_quantum.backend import BackendFailure, external
from platform_quantum.backend.adapters import read_price, read_setting, refusals
from platform_quantum.backend.braket_gates import TO_BRAKET
from platform_quantum.backend.circuits import read_measurements

# Else a missing key is looked for in the network of the machine.
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

FOLDER = "platform"
TAG = "platform-execution"
WAITING = ("CREATED", "QUEUED", "RUNNING", "CANCELLING")
HTTP = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 2})
PROGRAMS = "braket.ir.openqasm.program"


@functools.cache
def connect():
    key, secret = read_setting("AWS_ACCESS_KEY_ID"), read_setting("AWS_SECRET_ACCESS_KEY")
    _, _, _, region, *_ = (read_setting("BRAKET_DEVICE") + "::::").split(":")
    region = region or read_setting("AWS_REGION", "us-east-1")
    session = boto3.Session(key, secret, os.environ.get("AWS_SESSION_TOKEN"), region)
    return AwsSession(session, config=HTTP, default_bucket=read_setting("BRAKET_BUCKET"))


@functools.cache
def find_device():
    return connect().get_device(read_setting("BRAKET_DEVICE"))


def read_profile():
    device = find_device()
    told = json.loads(device["deviceCapabilities"])
    known = {name.lower() for name in told["action"][PROGRAMS]["supportedOperations"]}
    connectivity = told["paradigm"].get("connectivity") or {"fullyConnected": True}
    coupling = {} if connectivity["fullyConnected"] else {"coupling": read_coupling(connectivity)}
    least, most = told["service"]["shotsRange"]
    return {
        "qubits": told["paradigm"]["qubitCount"],
        "gates": [name for name, braket in TO_BRAKET.items() if braket.lower() in known],
        **coupling,
        **read_price("BRAKET_PRICE"),
        "instructions": ["measure", "barrier"],
        "shots": (max(1, least), most),
        "limits": {"circuits": 1, "runs": 1},
        "technology": "hardware",
        "display_name": device["deviceName"],
        "provider": "AWS",
        "hardware_provider": device["providerName"],
    }


def read_coupling(connectivity):
    """Pairs of neighbours. Qubits are numbered as they follow each other: a device skips some."""
    graph = connectivity["connectivityGraph"]
    names = {name for one, others in graph.items() for name in (one, *others)}
    places = {name: place for place, name in enumerate(sorted(names, key=int))}
    return sorted((places[one], places[other]) for one in graph for other in graph[one])


def translate(circuit):
    """The circuit in OpenQASM 3, with the names of Braket: it measures each qubit once."""
    measured = sorted(set(read_measurements(circuit["operations"]).values()))
    lines = ["OPENQASM 3.0;", f"bit[{len(measured)}] b;", f"qubit[{circuit['qubits']}] q;"]
    for name, parameters, qubits, _ in circuit["operations"]:
        if name in ("measure", "barrier"):
            continue
        if name not in TO_BRAKET:
            raise BackendFailure("GATE_UNSUPPORTED", f"Braket's devices have no {name}.")
        values = f"({', '.join(map(repr, parameters))})" if parameters else ""
        lines.append(f"{TO_BRAKET[name]}{values} {', '.join(f'q[{qubit}]' for qubit in qubits)};")
    lines += [f"b[{place}] = measure q[{qubit}];" for place, qubit in enumerate(measured)]
    return "\n".join(lines)


def submit(job):
    session = connect()
    (circuit,) = job.circuits
    with refusals():
        return session.create_quantum_task(
            clientToken=job.tag,
            deviceArn=read_setting("BRAKET_DEVICE"),
            action=Program(source=translate(circuit)).json(),
            shots=circuit["shots"],
            outputS3Bucket=session.default_bucket(),
            outputS3KeyPrefix=f"{FOLDER}/{job.tag}",
            tags={TAG: job.tag},
        )


def poll(arn):
    session = connect()
    task = session.get_quantum_task(arn)
    status = task["status"]
    if status in WAITING:
        return status
    if status != "COMPLETED":
        reason = task.get("failureReason", "")
        raise BackendFailure("VENDOR_ERROR", f"Task {arn} is {status}: {reason}")
    key = f"{task['outputS3Directory']}/results.json"
    text = session.retrieve_s3_object_body(task["outputS3Bucket"], key)
    result = GateModelQuantumTaskResult.from_string(text)
    rows = ["".join(map(str, row)) for row in result.measurements.tolist()]
    return [{"measured": rows, "qubits": [int(qubit) for qubit in result.measured_qubits]}]


def cancel(arn):
    session = connect()
    if session.get_quantum_task(arn)["status"] in WAITING[:-1]:
        session.cancel_quantum_task(arn)


def find(tag):
    filters = [{"name": f"tags:{TAG}", "operator": "EQUAL", "values": [tag]}]
    pages = connect().braket_client.get_paginator("search_quantum_tasks").paginate(filters=filters)
    tasks = (task for page in pages for task in page["quantumTasks"])
    found = (task["quantumTaskArn"] for task in tasks if task.get("tags", {}).get(TAG) == tag)
    return next(found, None)


run, describe = external(submit, poll, cancel, find, profile=read_profile, interval=(2.0, 60.0))
