"""What a platform says of backends and jobs, as the tests need it."""

from __future__ import annotations

from typing import Any

JOB = "0198a9a4-0000-7000-8000-000000000001"


def describe_backend(**more: Any) -> dict[str, Any]:
    configuration = {
        "qubit_count": 5,
        "qubits": [{"id": str(index)} for index in range(5)],
        "gates": [{"name": name, "native_gate": True} for name in ("h", "x", "rz", "cx")],
        "instructions": ["measure", "reset", "delay"],
        "connectivity": {"fully_connected": True, "graph": {}},
        "shots_range": {"min": 1, "max": 10_000},
        "max_pubs_per_job": 3,
        "supported_input_formats": ["QISKIT_QPY", "OPEN_QASM_V3", "OPEN_QASM_V2"],
        "qpy": {"min": 13, "max": 18},
        **more,
    }
    return {
        "id": "sim.test",
        "type": "SIMULATOR",
        "status": "ONLINE",
        "display_name": "A test",
        "provider": "platform",
        "queue_size": 0,
        "backend_version": "1.2.3",
        "configuration": configuration,
    }


def describe_job(status: str, **more: Any) -> dict[str, Any]:
    return {
        "id": JOB,
        "backend_id": "sim.test",
        "status": status,
        "shots": 100,
        "name": None,
        "tags": [],
        "created_at": "2026-11-28 09:00:00",
        "started_at": None,
        "ended_at": None,
        **more,
    }
