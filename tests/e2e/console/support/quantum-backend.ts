import type { Locator, Route } from "playwright-core";
import { expect } from "vitest";
import { expectOk, request } from "../../../../tools/platform-client.ts";
import type { ConsoleWorld } from "./open-console.ts";

/** What a backend for the stories says of itself. */
interface BackendTexts {
  readonly name: string;
  readonly description: string;
  readonly technology: string;
  readonly gates: readonly string[];
  /** It has neither calibration nor dry runs. */
  readonly isPlain?: boolean;
}

/**
 * A backend without packages, so that it deploys in seconds: seven qubits in the shape of an H, whose results are those of an entangled
 * state with some noise. Remarks in a circuit say what else it does: `// seconds 5`, `// fails`, `// spread`, `// says TEXT`, `// as Braket`.
 */
function createBackendFiles(id: string, texts: BackendTexts): { program: string; project: string } {
  const resources = { cpu: 0.25, memory: 0.25 };
  return {
    program: PROGRAM.replace("TEXTS", () => JSON.stringify(JSON.stringify(texts))),
    project: JSON.stringify({
      name: id.replace(".", "-"),
      runtime: "PYTHON_TEMPLATE",
      backend: { id },
      resources,
    }),
  };
}

/** `count` entangled qubits in OpenQASM 3. */
export function toCircuit(count: number, remark = ""): string {
  return `OPENQASM 3.0;
include "stdgates.inc";
${remark}
qubit[${count}] q;
bit[${count}] c;
h q[0];
${Array.from({ length: count - 1 }, (_, at) => `cx q[${at}], q[${at + 1}];`).join("\n")}
c = measure q;
`;
}

/** What the backend of a laboratory says of itself. */
export const H7 = {
  name: "H7, seven qubits",
  description:
    "The simulator of the seven-qubit device of the Alpine Optimisation Lab, with its noise of last week.\n\nJobs of more than 20 circuits are to be split.",
  technology: "SUPERCONDUCTING",
  gates: ["cz", "rz", "sx", "x", "h", "cx"],
};

/** Deploys such a backend in the organisation that the CLI works in, and returns the key of its service. */
export async function deployBackend(world: ConsoleWorld, id: string, texts: BackendTexts): Promise<string> {
  const { program, project } = createBackendFiles(id, texts);
  const folder = await world.createProject("h7", program, { "platform.json": project });
  return (await world.deploy(folder)).serviceKey;
}

/** What a job is started with for these circuits. */
export function toJob(backend: string, circuits: readonly string[], more: object = {}): object {
  const pubs = circuits.map((circuit) => ({ circuit }));
  const input = { primitive: "sampler", shape: "registers", pubs };
  return { backend_id: backend, input_format: "OPEN_QASM_V3", input, shots: 1_000, ...more };
}

/** What the quantum API answers to the user in an organisation. */
export function callQuantum<T>(
  { login }: ConsoleWorld,
  organizationId: string,
  method: string,
  path: string,
  { json, wait = 0 }: { readonly json?: unknown; readonly wait?: number } = {},
): Promise<T> {
  return expectOk(
    request<T>(method, `${login.apiUrl}/quantum${path}`, {
      token: login.personalAccessToken,
      headers: { "x-organizationid": organizationId, ...(wait === 0 ? {} : { prefer: `wait=${wait}` }) },
      ...(json === undefined ? {} : { json }),
    }),
  );
}

/** Starts a quantum job of the organisation, waits for its end for so long at most, and returns its id. */
export async function startQuantumJob(
  world: ConsoleWorld,
  organizationId: string,
  json: object,
  seconds = 30,
): Promise<string> {
  const asked = { json, wait: seconds };
  return (await callQuantum<{ id: string }>(world, organizationId, "POST", "/jobs", asked)).id;
}

/** Opens a session of the organisation, and returns its id. */
export async function openQuantumSession(
  world: ConsoleWorld,
  organizationId: string,
  backend: string,
): Promise<string> {
  const json = { backend_id: backend, ttl: 3_600, metadata: { purpose: "calibration of the week" } };
  return (await callQuantum<{ id: string }>(world, organizationId, "POST", "/sessions", { json })).id;
}

const PROGRAM = `
"""A device of seven qubits, as its own simulator."""

import base64
import json
import logging
import random
import re
import time
import zlib

logger = logging.getLogger(__name__)

SAYS = json.loads(TEXTS)
PAIRS = [(0, 1), (1, 2), (1, 3), (3, 5), (4, 5), (5, 6)]


class Refused(Exception):
    code = "CIRCUIT_INVALID"
    detail = "Line 4: the register r is not declared."


def describe():
    neighbours = {str(q): [str(b if a == q else a) for a, b in PAIRS if q in (a, b)] for q in range(7)}
    qubits = [{"id": q, "t1": (80 + 7 * q) * 1e-6, "t2": (60 + 5 * q) * 1e-6, "frequency": (4.9 + q / 50) * 1e9} for q in range(7)]
    gates = [{"name": "cz", "qubits": list(pair), "duration": 6e-8, "error": 0.004 + n / 1000} for n, pair in enumerate(PAIRS)]
    more = {} if SAYS.get("isPlain") else {"dry_run": True, "calibration": {"qubits": qubits, "gates": gates}}
    return {
        "type": "SIMULATOR",
        "technology": SAYS["technology"],
        "display_name": SAYS["name"],
        "documentation": {"description": SAYS["description"], "url": "https://quantum.alpine-lab.example/h7"},
        "configuration": {
            "qubit_count": 7,
            "qubits": [{"id": str(q)} for q in range(7)],
            "gates": [{"name": name, "native_gate": True} for name in SAYS["gates"]],
            "instructions": ["measure", "reset", "barrier"],
            "operations": ["method"],
            "connectivity": {"fully_connected": False, "graph": neighbours},
            "shots_range": {"min": 1, "max": 100_000},
            "max_pubs_per_job": 20,
            "supported_input_formats": ["OPEN_QASM_V3", "DIMOD_BQM"],
            "memory_result_supported": True,
        },
        "deterministic": True,
        "price": {"currency": "EUR", "perJob": 0.3, "perShot": 0.00035},
        **more,
    }


def run(data: dict, params: dict):
    if params.get("dry_run") and not any("// fails" in pub["circuit"] for pub in data.get("pubs", [])):
        return {"valid": True, "warnings": ["the circuit is not transpiled"], "seconds": 0.25}
    generator = random.Random(params.get("seed", 1))
    shots = params.get("shots", 100)
    if data["format"] == "DIMOD_BQM":
        return {"sampleset": sample(data["bqm"], shots, generator), "metadata": {"seconds": 0.0021, "seed": 1}}
    if any("// as Braket" in pub["circuit"] for pub in data["pubs"]):
        return {"measuredQubits": [0, 1, 2], "measurements": [[1, 0, 0]] * shots}
    if data["primitive"] == "estimator":
        pubs = [{"name": "energy", "evs": [1.0, -0.4375], "stds": [0.0, 0.03125]} for _ in data["pubs"]]
    else:
        pubs = [measure(pub, shots, generator) for pub in data["pubs"]]
    metadata = {"seconds": 0.0123, "method": "statevector", "seed": params.get("seed", 1), "software": {"alpine-h7": "2.1.0"}}
    return {"pubs": pubs, "metadata": metadata}


def measure(pub, shots, generator):
    text = pub["circuit"]
    logger.info("reads a circuit of %d letters", len(text))
    if "// fails" in text:
        raise Refused()
    says = re.search(r"// says (.*)", text)
    if says:
        logger.info("says %s", says[1])
        return {"name": says[1], "shots": shots, "counts": {says[1]: shots}}
    seconds = re.search(r"// seconds (\\d+)", text)
    for second in range(int(seconds[1]) if seconds else 0):
        logger.info("second %d", second)
        time.sleep(1)
    bits = int(re.search(r"bit\\[(\\d+)\\] c", text)[1])
    rows = b""
    for _ in range(shots):
        value = generator.getrandbits(bits) if "// spread" in text else generator.choice([0, (1 << bits) - 1])
        if generator.random() < 0.06:
            value ^= 1 << generator.randrange(bits)
        rows += value.to_bytes((bits + 7) // 8, "big")
    samples = base64.b64encode(zlib.compress(rows)).decode()
    return {"name": pub.get("name"), "shots": shots, "registers": [{"name": "c", "bits": bits, "shots": shots, "shape": [], "samples": samples}]}


def sample(bqm, reads, generator):
    labels = bqm["variable_labels"]
    words = [generator.getrandbits(len(labels)) for _ in range(reads)]
    energies = [sum(bias for at, bias in enumerate(bqm["linear_biases"]) if word >> at & 1) for word in words]
    array = lambda values: {"type": "array", "data": values, "use_bytes": False}
    return {
        "type": "SampleSet",
        "sample_data": array([[word] for word in words]),
        "sample_packed": True,
        "vectors": {"energy": array(energies), "num_occurrences": array([1] * reads)},
        "variable_labels": labels,
        "variable_type": "BINARY",
    }
`;

/** Asks for an estimate, and changes the shots before it is answered. */
export async function changeWhileEstimated(dialog: Locator, shots: number): Promise<void> {
  const page = dialog.page();
  const isJob = /\/quantum\/jobs$/u;
  const held: Route[] = [];
  await page.route(isJob, (route) => void held.push(route));
  const ask = dialog.getByRole("button", { name: "Check and estimate" });
  await ask.click();
  await expect.poll(() => held.length).toBe(1);
  await dialog.getByLabel("Shots").fill(String(shots));
  await held[0]?.continue();
  await expect.poll(() => ask.getAttribute("data-loading")).toBeNull();
  await page.unroute(isJob);
}
