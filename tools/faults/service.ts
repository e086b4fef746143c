import { mkdir, link, readdir, writeFile, chmod } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expectOk, request, subscribe } from "../platform-client.ts";
import type { Subscription } from "../platform-client.ts";
import { runCli } from "../platform-process.ts";
import type { Fleet } from "./fleet.ts";
import type { History } from "./history.ts";

/** User code says that it has begun, waits until that is written down, and only then does anything. */
const PROGRAM = `
import json, os, socket, time

SECONDS = {"short": 0.4, "long": 1.5}

def run(data):
    run = {"op": data["op"], "id": os.environ["SERVICE_EXECUTION_ID"], "nonce": os.urandom(8).hex()}
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
const FILES = {
  "platform.json": JSON.stringify({
    name: "faulty",
    runtime: "PYTHON_TEMPLATE",
    resources: { cpu: 0.25, memory: 0.25 },
  }),
  "src/__init__.py": "",
  "src/program.py": PROGRAM,
};

/** A service that is called in a campaign, and an application that calls it. */
export interface TriedService {
  readonly subscription: Subscription;
  /** Path of the endpoint at every gateway. */
  readonly path: string;
  readonly close: () => Promise<void>;
}

/** Deploys the service, subscribes to it, and listens to its runs. */
export async function deployService(
  fleet: Fleet,
  directory: string,
  history: History,
): Promise<TriedService> {
  const project = join(directory, "project");
  for (const [path, content] of Object.entries(FILES)) {
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
  const { serviceKey } = JSON.parse(stdout) as { serviceKey: string };
  const subscription = await subscribe({ ...fleet.login(), apiUrl: getApi(fleet) }, serviceKey, "campaign");
  const close = await hearRuns(fleet.dataDirectory, history);
  return { subscription, path: new URL(subscription.endpointUrl).pathname, close };
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

/** A socket in the folder of each version, which is the working directory of `run`: user code reaches no address of the host. */
async function hearRuns(dataDirectory: string, history: History): Promise<() => Promise<void>> {
  const address = join(dataDirectory, "line");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").once("data", (line: string) => {
      const { op, id, nonce } = JSON.parse(line) as { op: string; id: string; nonce: string };
      history.add({ kind: "began", op, id, nonce });
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
