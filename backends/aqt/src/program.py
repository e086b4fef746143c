"""qpu.aqt: a device of Alpine Quantum Technologies, by qiskit-aqt-provider.

AQT_CLIENT_ID and AQT_CLIENT_SECRET (secrets) are client credentials of ARNICA; AQT_TOKEN takes
their place where there is a token. AQT_WORKSPACE and AQT_RESOURCE say which device of which
workspace; AQT_PRICE what jobs cost.
"""

import functools
import os

import httpx
from aqt_connector import ArnicaApp, ArnicaConfig
from aqt_connector.models.arnica.request_bodies.jobs import QuantumCircuits, SubmitJobRequest
from aqt_connector.models.arnica.response_bodies.jobs import ResultResponse, SubmitJobResponse
from aqt_connector.models.arnica.response_bodies.resources import ResourceDetails
from aqt_connector.models.circuits import QuantumCircuit
from qiskit_aqt_provider._cloud.resource import CloudResource
from qiskit_aqt_provider._transformers import qiskit_to_aqt_circuit

from platform_quantum.backend import BackendFailure, external
from platform_quantum.backend.adapters import read_price, read_setting, refusals
from platform_quantum.backend.circuits import read_measurements, to_qiskit
from platform_quantum.backend.device import compile_for

TIMES = httpx.Timeout(60, connect=10)
"""A submission without an answer cannot be found again: it is waited for longer than usual."""
WAITING = ("queued", "ongoing")
MAX_CIRCUITS = 50


TRANSPORT = None
"""That of httpx; tests have one of their own."""


class Arnica:
    """AQT's cloud, as far as the adapter asks it."""

    def __init__(self):
        self.app = ArnicaApp(ArnicaConfig())
        self.http = httpx.Client(
            base_url=f"{self.app.config.arnica_url}/v1", timeout=TIMES, transport=TRANSPORT
        )
        self.token = os.environ.get("AQT_TOKEN", "")

    def ask(self, method, path, **more):
        answer = self.send(method, path, **more)
        if answer.status_code == httpx.codes.UNAUTHORIZED and not os.environ.get("AQT_TOKEN"):
            self.token = ""  # its time is over: nothing was done
            answer = self.send(method, path, **more)
        return answer.raise_for_status()

    def send(self, method, path, **more):
        self.token = self.token or self.log_in()
        headers = {"authorization": f"Bearer {self.token}"}
        return self.http.request(method, path, headers=headers, **more)

    def log_in(self):
        credentials = (read_setting("AQT_CLIENT_ID"), read_setting("AQT_CLIENT_SECRET"))
        return self.app.oidc_service.authenticate_with_client_credentials(credentials)


@functools.cache
def connect():
    return Arnica()


@functools.cache
def find_device():
    arnica, resource = connect(), read_setting("AQT_RESOURCE")
    details = ResourceDetails.model_validate_json(arnica.ask("GET", f"/resources/{resource}").text)
    return CloudResource(arnica.app, arnica.http, read_setting("AQT_WORKSPACE"), details)


def read_profile():
    device = find_device()
    return {
        "qubits": device.target.num_qubits,
        "gates": ["rz", "r", "rxx"],
        **read_price("AQT_PRICE"),
        "instructions": ["measure", "barrier"],
        "shots": (1, device.MAX_SHOTS),
        "limits": {"circuits": MAX_CIRCUITS, "runs": MAX_CIRCUITS},
        "technology": "trapped ions",
        "display_name": device.id,
        "provider": "AQT",
        "hardware_provider": "AQT",
    }


def translate(circuit, device):
    """A circuit of AQT's: it measures all qubits, so where they are must not change."""
    read_measurements(circuit["operations"])
    gates = [one for one in circuit["operations"] if one[0] not in ("measure", "barrier")]
    made = to_qiskit({**circuit, "bits": circuit["qubits"], "operations": gates})
    compiled = compile_for(made, device)
    compiled.measure(range(compiled.num_qubits), range(compiled.num_qubits))
    return QuantumCircuit(
        repetitions=circuit["shots"],
        number_of_qubits=compiled.num_qubits,
        quantum_circuit=qiskit_to_aqt_circuit(compiled),
    )


def submit(job):
    device = find_device()
    circuits = QuantumCircuits(circuits=[translate(one, device) for one in job.circuits])
    request = SubmitJobRequest(label=job.tag, payload=circuits).model_dump(mode="json")
    with refusals():
        answer = connect().ask("POST", f"/submit/{device.workspace_id}/{device.id}", json=request)
    return str(SubmitJobResponse.model_validate_json(answer.text).job.job_id)


def read_state(job_id):
    return ResultResponse.model_validate_json(
        connect().ask("GET", f"/result/{job_id}").text
    ).response


def poll(job_id):
    state = read_state(job_id)
    if state.status in WAITING:
        return state.status.value
    if state.status != "finished":
        reason = getattr(state, "message", "")
        raise BackendFailure("VENDOR_ERROR", f"Job {job_id} is {state.status.value}: {reason}")
    shots = [state.result[index] for index in range(len(state.result))]
    return [{"measured": ["".join(map(str, values)) for values in rows]} for rows in shots]


def cancel(job_id):
    if read_state(job_id).status in WAITING:
        connect().ask("DELETE", f"/jobs/{job_id}")


# ARNICA has no list of jobs by which one could be found again.
run, describe = external(submit, poll, cancel, None, profile=read_profile, interval=(1.0, 30.0))
