"""qpu.ibm: a device of IBM Quantum, by qiskit-ibm-runtime.

The variables IBM_QUANTUM_TOKEN (a secret) and IBM_QUANTUM_DEVICE say whose account and which
device; IBM_QUANTUM_INSTANCE, where there is one, which instance is billed;
IBM_QUANTUM_PRICE what jobs cost.
"""

import functools
import os

from qiskit_ibm_runtime import QiskitRuntimeService, SamplerV2
from qiskit_ibm_runtime.exceptions import IBMNotAuthorizedError

from platform_quantum.backend import BackendFailure, external
from platform_quantum.backend.adapters import read_price, read_setting, refusals
from platform_quantum.backend.device import fit, read_target
from platform_quantum.backend.failures import describe_error

WAITING = ("INITIALIZING", "QUEUED", "RUNNING", "VALIDATING")
MAX_CIRCUITS = 100


@functools.cache
def connect():
    return QiskitRuntimeService(
        channel="ibm_quantum_platform",
        token=read_setting("IBM_QUANTUM_TOKEN"),
        instance=os.environ.get("IBM_QUANTUM_INSTANCE"),
    )


@functools.cache
def find_device():
    return connect().backend(read_setting("IBM_QUANTUM_DEVICE"))


def read_profile():
    device = find_device()
    return {
        **read_target(device.target),
        **read_price("IBM_QUANTUM_PRICE"),
        "shots": (1, 100_000),
        "limits": {"circuits": MAX_CIRCUITS, "runs": MAX_CIRCUITS},
        "technology": "superconducting",
        "display_name": device.name,
        "provider": "IBM",
        "hardware_provider": "IBM",
    }


def submit(job):
    device = find_device()
    pubs = [(fit(one, device), None, one["shots"]) for one in job.circuits]
    sampler = SamplerV2(mode=device)
    sampler.options.environment.job_tags = [job.tag]
    try:
        with refusals():
            return sampler.run(pubs).job_id()
    except IBMNotAuthorizedError as error:
        raise BackendFailure("VENDOR_REJECTED", describe_error(error)) from None


def poll(job_id):
    job = connect().job(job_id)
    status = name_status(job)
    if status in WAITING:
        return status
    if status != "DONE":
        reason = getattr(job, "error_message", lambda: None)()
        raise BackendFailure("VENDOR_ERROR", f"Job {job_id} is {status}: {reason}")
    return [{"counts": pub.join_data().get_counts()} for pub in job.result()]


def name_status(job):
    """A text, or a member of an enumeration for jobs that run here."""
    status = job.status()
    return getattr(status, "name", status)


def cancel(job_id):
    job = connect().job(job_id)
    if name_status(job) in WAITING:
        job.cancel()


def find(tag):
    found = connect().jobs(job_tags=[tag], limit=1)
    return found[0].job_id() if found else None


run, describe = external(submit, poll, cancel, find, profile=read_profile, interval=(2.0, 60.0))
