"""qpu.iqm: a quantum computer of IQM, by iqm-client.

IQM_TOKEN (a secret) says whose account. IQM_QUANTUM_COMPUTER says which computer, such as
`garnet`; IQM_SERVER_URL where it is, without it IQM Resonance; IQM_PRICE what jobs cost.
"""

import functools
from uuid import UUID

from exa.common.errors.iqm_error import IQMError
from iqm.iqm_client import IQMClient
from iqm.qiskit_iqm.iqm_provider import IQMBackend
from iqm.qiskit_iqm.qiskit_to_iqm import MeasurementKey
from iqm.station_control.interface.errors import map_from_error_to_status_code

from platform_quantum.backend import BackendFailure, external
from platform_quantum.backend.adapters import read_price, read_setting, read_shots, refusals
from platform_quantum.backend.device import fit, read_target

RESONANCE = "https://resonance.iqm.tech"
WAITING = ("waiting", "processing")
MAX_CIRCUITS = 100


@functools.cache
def connect():
    read_setting("IQM_TOKEN")  # the client reads it itself, and refuses one that it is given too
    return IQMClient.from_url(
        read_setting("IQM_SERVER_URL", RESONANCE),
        quantum_computer=read_setting("IQM_QUANTUM_COMPUTER"),
    )


@functools.cache
def find_device():
    return IQMBackend(connect())


def read_profile():
    device = find_device()
    return {
        **read_target(device.target),
        **read_price("IQM_PRICE"),
        "instructions": ["measure", "barrier"],
        "shots": (1, 20_000),
        "limits": {"circuits": MAX_CIRCUITS, "runs": MAX_CIRCUITS},
        "technology": "superconducting",
        "display_name": f"IQM {device.name}",
        "provider": "IQM",
        "hardware_provider": "IQM",
    }


def submit(job):
    shots = read_shots(job)
    device = find_device()
    real = device.get_real_target()
    circuits = [fit(one, device, real) for one in job.circuits]
    for circuit in circuits:
        circuit.metadata = {"execution": job.tag}
    with refusals(read_status):
        definition = device.create_circuit_job_definition(circuits, shots=shots)
        return str(connect().submit_circuit_job(definition).job_id)


def read_status(error):
    """The HTTP status that an error of IQM stands for; 0: there was no answer."""
    return int(map_from_error_to_status_code(error)) if isinstance(error, IQMError) else 0


def poll(job_id):
    job = connect().get_job(UUID(job_id))
    status = str(job.status)
    if status in WAITING:
        return status
    if status != "completed":
        reasons = "; ".join(str(error) for error in job.job_data.errors)
        raise BackendFailure("VENDOR_ERROR", f"Job {job_id} is {status}: {reasons}")
    return [
        {"memory": read_memory(measured)} for measured in connect().get_job_measurements(job.job_id)
    ]


def read_memory(measured):
    """The shots of a circuit. Each bit was measured under a key of its own, which names it."""
    columns = [(MeasurementKey.from_string(key).clbit_idx, rows) for key, rows in measured.items()]
    shots = len(columns[0][1])
    return [hex(sum(rows[shot][0] << bit for bit, rows in columns)) for shot in range(shots)]


def cancel(job_id):
    if str(connect().get_job(UUID(job_id)).status) in WAITING:
        connect().cancel_job(UUID(job_id))


# IQM's server has no list of jobs by which one could be found again.
run, describe = external(submit, poll, cancel, None, profile=read_profile, interval=(1.0, 30.0))
