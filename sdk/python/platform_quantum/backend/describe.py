"""What a backend says of itself, once, when its version is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .decode import FORMATS, MAX_QPY, MIN_QPY

if TYPE_CHECKING:
    from .gate import GateProfile

DEFAULT_INSTRUCTIONS = ("measure", "reset", "delay", "barrier")
DEFAULT_SHOTS = (1, 100_000)


def describe_gates(profile: GateProfile, max_circuits: int, max_total: int) -> dict[str, Any]:
    """The description of a backend that runs circuits."""
    count = profile["qubits"]
    least, most = profile.get("shots", DEFAULT_SHOTS)
    coupling = profile.get("coupling")
    configuration: dict[str, Any] = {
        "qubit_count": count,
        "qubits": [{"id": str(index)} for index in range(count)],
        "gates": [{"name": name, "native_gate": True} for name in profile["gates"]],
        "instructions": list(profile.get("instructions", DEFAULT_INSTRUCTIONS)),
        "operations": list(profile.get("options", ())),
        "connectivity": {
            "fully_connected": coupling is None,
            "graph": {} if coupling is None else _draw(coupling, count),
        },
        "shots_range": {"min": least, "max": most},
        "total_shots_range": {"min": least, "max": max_total},
        "max_pubs_per_job": max_circuits,
        "supported_input_formats": list(FORMATS),
        "memory_result_supported": True,
        "qpy": {"min": MIN_QPY, "max": MAX_QPY},
    }
    if "method_qubits" in profile:
        configuration["method_qubits"] = dict(profile["method_qubits"])
    described: dict[str, Any] = {
        "type": profile.get("type", "SIMULATOR"),
        "technology": profile.get("technology", "simulator"),
        "display_name": profile.get("display_name", "A backend of gates"),
        "provider": profile.get("provider", "PLATFORM"),
        "hardware_provider": profile.get("hardware_provider", profile.get("provider", "PLATFORM")),
        "documentation": dict(profile.get("documentation", {})),
        "deterministic": profile.get("deterministic", False),
        "dry_run": True,
        "configuration": configuration,
    }
    if "calibration" in profile:
        described["calibration"] = profile["calibration"]
    if "price" in profile:
        described["price"] = profile["price"]
    return described


def _draw(coupling: list[tuple[int, int]], count: int) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {str(index): [] for index in range(count)}
    for one, other in coupling:
        graph[str(one)].append(str(other))
    return graph
