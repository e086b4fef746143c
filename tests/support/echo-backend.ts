/** A backend that simulates nothing: it answers with what it was given, after as many seconds as the input says, or with the failure that it asks for. */
export const ECHO_PROGRAM = `
import time

GATES = [{"name": name, "native_gate": True} for name in ("x", "h", "cx")]

def describe():
    return {
        "type": "SIMULATOR",
        "display_name": "Echo",
        "configuration": {
            "qubit_count": 5,
            "gates": GATES,
            "connectivity": {"fully_connected": True},
            "shots_range": {"min": 1, "max": 1000},
            "max_pubs_per_job": 2,
            "supported_input_formats": ["OPEN_QASM_V2", "OPEN_QASM_V3"],
            "memory_result_supported": False,
        },
        "deterministic": True,
    }

class Refused(Exception):
    code = "CIRCUIT_INVALID"
    detail = "The circuit has no end."

def run(data: dict, params: dict):
    if data.get("fails"):
        raise Refused()
    time.sleep(data.get("seconds", 0))
    return {"data": data, "params": params}
`;

/** `platform.json` of that backend, by the id that it has. */
export function echoProject(name: string, id: string): string {
  const resources = { cpu: 0.25, memory: 0.25 };
  return JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", backend: { id }, resources });
}
