import { createOutsideWorld, OUTSIDE, OUTSIDE_PORT } from "@platform/engine/testing/outside-world";

/** What the vendor knows of a job. */
interface VendorJob {
  readonly id: string;
  readonly tag: string;
  readonly state: "RUNNING" | "DONE" | "CANCELLED" | "REFUSED";
  readonly polls: number;
}

/** A vendor of quantum jobs, beside the host's network: a server of its own, which versions with egress reach. */
export interface StubVendor {
  readonly url: string;
  /** What its customers send as a bearer. */
  readonly key: string;
  readonly listJobs: () => Promise<readonly VendorJob[]>;
  /** `holdAnswers`: jobs are made, but who submits one is not answered until that is over. `away`: every request of customers is answered with 503. */
  readonly change: (changes: { readonly holdAnswers?: boolean; readonly away?: boolean }) => Promise<void>;
  /** Drops the jobs of this tag. */
  readonly forget: (tag: string) => Promise<void>;
  /** Ends all jobs that run: each is measured. */
  readonly release: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const KEY = "vendor-key-of-the-story";

/** Jobs in memory; what a text measures is as many zeros as it has qubits. `/control` is for the test. */
const SERVER = `
import json, threading, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

jobs, settings, changed = {}, {"holdAnswers": False, "away": False}, threading.Condition()

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def read(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"null")
    def handle_any(self):
        given, url = self.read(), urlsplit(self.path)
        with changed:
            if url.path.startswith("/control"):
                return self.control(url.path, given)
            if self.headers.get("authorization") != "Bearer ${KEY}":
                return self.answer(401, {"detail": "no such key"})
            if settings["away"]:
                return self.answer(503, {"detail": "maintenance"})
            if self.command == "POST":
                return self.submit(given)
            if url.path == "/jobs":
                tag = parse_qs(url.query)["tag"][0]
                return self.answer(200, [job for job in jobs.values() if job["tag"] == tag])
            job = jobs.get(url.path.removeprefix("/jobs/"))
            if job is None:
                return self.answer(404, {"detail": "no such job"})
            if self.command == "DELETE" and job["state"] == "RUNNING":
                job["state"] = "CANCELLED"
            job["polls"] += self.command == "GET"
            self.answer(200, job)
    do_GET = do_POST = do_DELETE = handle_any
    def submit(self, given):
        if any("refuse" in text for text in given["circuits"]):
            return self.answer(422, {"detail": "the vendor does not like the circuit"})
        number = uuid.uuid4().hex
        jobs[number] = {"id": number, "tag": given["tag"], "state": "RUNNING", "polls": 0, "shots": given["shots"]}
        while settings["holdAnswers"]:
            changed.wait()
        self.answer(201, {"id": number})
    def control(self, path, given):
        if path == "/control/settings":
            settings.update(given)
            changed.notify_all()
        if path == "/control/release":
            for job in jobs.values():
                if job["state"] == "RUNNING":
                    job.update(state="DONE", counts={"00": job["shots"]})
        if path == "/control/forget":
            for number in [job["id"] for job in jobs.values() if job["tag"] == given]:
                del jobs[number]
        self.answer(200, list(jobs.values()))

class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a customer that is gone, as a worker that was killed

server = Server(("0.0.0.0", ${OUTSIDE_PORT}), Handler)
server.daemon_threads = True
print("listening", flush=True)
server.serve_forever()
`;

/** Its adapter, which needs no package: the vendor reads OpenQASM itself. */
export const STUB_ADAPTER: Readonly<Record<string, string>> = {
  "src/__init__.py": "",
  "src/program.py": `
import json, os
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from platform_quantum.backend.vendor import external
from platform_quantum.backend.failures import BackendFailure

def ask(method, path, value=None):
    body = None if value is None else json.dumps(value).encode()
    headers = {"authorization": "Bearer " + os.environ["VENDOR_KEY"]}
    try:
        with urlopen(Request(os.environ["VENDOR_URL"] + path, body, headers, method=method), timeout=120) as answer:
            return json.load(answer)
    except HTTPError as error:
        if error.code == 503:
            raise
        raise BackendFailure("VENDOR_REJECTED", f"The vendor has answered {error.code}: {json.load(error)['detail']}") from None

def submit(job):
    texts = [circuit["text"] for circuit in job.circuits]
    return ask("POST", "/jobs", {"tag": job.tag, "circuits": texts, "shots": job.circuits[0]["shots"]})["id"]

def poll(job):
    found = ask("GET", "/jobs/" + job)
    if found["state"] == "DONE":
        return [{"counts": found["counts"]}]
    return found["state"]

def cancel(job):
    ask("DELETE", "/jobs/" + job)

def find(tag):
    found = ask("GET", "/jobs?tag=" + tag)
    return found[0]["id"] if found else None

def description():
    return {
        "type": "QPU",
        "display_name": "Stub",
        "configuration": {
            "qubit_count": 2,
            "gates": [{"name": "h", "native_gate": True}],
            "connectivity": {"fully_connected": True},
            "shots_range": {"min": 1, "max": 1000},
            "max_pubs_per_job": 1,
            "supported_input_formats": ["OPEN_QASM_V3"],
            "memory_result_supported": False,
        },
    }

run, describe = external(
    submit, poll, cancel, find, profile={}, description=description, decoder="src.decode", interval=(0.2, 1.0)
)
`,
  "src/decode.py": `
import os
from platform_quantum.backend.failures import BackendFailure

def look_around():
    """What the code of a stranger would find where its circuits are read."""
    found = [name for name in os.environ if name != "LC_CTYPE"]
    for process in filter(str.isdigit, os.listdir("/proc")):
        if int(process) == os.getpid():
            continue
        for name in ("environ", "mem", "fd/3", "root"):
            try:
                open(f"/proc/{process}/{name}", "rb").read(1)
            except PermissionError:
                pass
            except OSError as error:
                found.append(f"{name}: {error}")
            else:
                found.append(name)
    return found

def prepare(data, params, profile):
    text = data["input"]
    if "OPENQASM" not in text:
        raise BackendFailure("CIRCUIT_INVALID", f"This is no OpenQASM. {look_around()}")
    return {"circuits": [{"text": text, "shots": params["shots"]}]}

def finish(data, params, profile, outputs):
    return {"counts": outputs[0]["counts"], "metadata": {}}
`,
};

/** `platform.json` of the adapter. */
export const STUB_PROJECT = JSON.stringify({
  name: "stub",
  runtime: "PYTHON_TEMPLATE",
  backend: { id: "qpu.stub", external: true },
  network: "egress",
  timeoutSeconds: 600,
});

/** Needs root: the network of the host gets a cable to it. */
export async function createStubVendor(): Promise<StubVendor> {
  const outside = await createOutsideWorld("/dev/null", SERVER);
  const url = `http://${OUTSIDE}:${OUTSIDE_PORT}`;
  const control = async (path: string, value: unknown = null): Promise<readonly VendorJob[]> => {
    const answer = await fetch(`${url}/control${path}`, { method: "POST", body: JSON.stringify(value) });
    return (await answer.json()) as readonly VendorJob[];
  };
  return {
    url,
    key: KEY,
    listJobs: () => control(""),
    change: async (changes) => void (await control("/settings", changes)),
    forget: async (tag) => void (await control("/forget", tag)),
    release: async () => void (await control("/release")),
    close: async () => {
      await control("/settings", { holdAnswers: false }).finally(outside.close);
    },
  };
}
