import { mkdir, link, readdir, writeFile, chmod } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expectOk, request, subscribe } from "../platform-client.ts";
import type { Subscription } from "../platform-client.ts";
import { runCli } from "../platform-process.ts";
import type { Fleet } from "./fleet.ts";
import type { History } from "./history.ts";
import { MAX_RETRIES } from "./schedule.ts";

/** User code says that it has begun, waits until that is written down, and only then does anything. */
const PROGRAM = `
import json, os, socket, time

SECONDS = {"short": 0.4, "long": 1.5}

def run(data):
    run = {
        "op": data["op"],
        "id": os.environ["SERVICE_EXECUTION_ID"],
        "nonce": os.urandom(8).hex(),
        "attempt": int(os.environ["SERVICE_EXECUTION_ATTEMPT"]),
    }
    line = socket.socket(socket.AF_UNIX)
    line.connect("line")
    with line:
        line.sendall((json.dumps(run) + "\\n").encode())
        line.recv(1)
    time.sleep(SECONDS.get(data["work"], 0))
    if data["work"] == "fail":
        raise ValueError(data["op"])
    return {**run, "padding": "x" * (300_000 if data["work"] == "large" else 0)}
`;
/** What was lost or has failed is started again; few run at a time, so that others are held until there is a place. */
const POLICY = {
  retries: { onLost: "retry", onError: { max: MAX_RETRIES, backoffSeconds: 0.2 } },
  concurrency: { service: 2 },
};

/** The services that are called in a campaign, and an application that calls them. */
export interface TriedServices {
  readonly subscription: Subscription;
  /** Paths of the endpoints at every gateway. */
  readonly paths: { readonly once: string; readonly retried: string };
  readonly close: () => Promise<void>;
}

/** Deploys a service whose executions are started at most once and one with retries, subscribes to both, and listens to their runs. */
export async function deployServices(
  fleet: Fleet,
  directory: string,
  history: History,
): Promise<TriedServices> {
  const once = await deploy(fleet, directory, "once");
  const retried = await deploy(fleet, directory, "retried");
  const login = { ...fleet.login(), apiUrl: getApi(fleet) };
  const api = <T>(method: string, path: string, json: unknown) =>
    expectOk(request<T>(method, `${login.apiUrl}/api${path}`, { token: login.personalAccessToken, json }));
  await api("PUT", `/services/${retried}/policy`, { revision: 0, policy: POLICY });
  const subscription = await subscribe(login, once, "campaign");
  await api("POST", `/services/${retried}/publish`, { scope: "internal" });
  const { endpointUrl } = await api<Subscription>("POST", "/subscriptions", {
    applicationId: subscription.applicationId,
    serviceKey: retried,
  });
  const close = await hearRuns(fleet.dataDirectory, history);
  const paths = {
    once: new URL(subscription.endpointUrl).pathname,
    retried: new URL(endpointUrl).pathname,
  };
  return { subscription, paths, close };
}

/** Returns its key. */
async function deploy(fleet: Fleet, directory: string, name: string): Promise<string> {
  const project = join(directory, name);
  const settings = { name, runtime: "PYTHON_TEMPLATE", resources: { cpu: 0.25, memory: 0.25 } };
  const files = {
    "platform.json": JSON.stringify(settings),
    "src/__init__.py": "",
    "src/program.py": PROGRAM,
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), content);
  }
  const { code, stdout, stderr } = await runCli(["up", "--json"], {
    cwd: project,
    configDirectory: join(directory, "cli"),
    environment: {
      PLATFORM_ENDPOINT: getApi(fleet),
      PLATFORM_PERSONAL_ACCESS_TOKEN: fleet.login().personalAccessToken,
    },
  });
  if (code !== 0) throw new Error(`platform up failed:\n${stderr}${stdout}`);
  return (JSON.parse(stdout) as { serviceKey: string }).serviceKey;
}

function getApi(fleet: Fleet): string {
  return fleet.ships().control.platform().apiUrl;
}

/** Makes a webhook of the application; returns its secret. */
export async function createWebhook(
  fleet: Fleet,
  { applicationId }: Subscription,
  url: string,
): Promise<string> {
  const answer = request<{ secret: string }>(
    "POST",
    `${getApi(fleet)}/api/applications/${applicationId}/webhooks`,
    { token: fleet.login().personalAccessToken, json: { url } },
  );
  return (await expectOk(answer)).secret;
}

interface Run {
  readonly op: string;
  readonly id: string;
  readonly nonce: string;
  readonly attempt: number;
}

/** A socket in the folder of each version, which is the working directory of `run`: user code reaches no address of the host. */
async function hearRuns(dataDirectory: string, history: History): Promise<() => Promise<void>> {
  const address = join(dataDirectory, "line");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").once("data", (line: string) => {
      history.add({ kind: "began", ...(JSON.parse(line) as Run) });
      socket.end("k");
    });
  });
  server.listen(address);
  await once(server, "listening");
  await chmod(address, 0o777);
  const versions = join(dataDirectory, "versions");
  for (const version of await readdir(versions)) await link(address, join(versions, version, "line"));
  return async () => {
    server.close();
    await once(server, "close");
  };
}
