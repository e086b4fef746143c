/** `npm run demo`: from nothing to the length of a tour through Berlin, the way a newcomer would go. */
import { mkdir } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import process, { argv, exit, stderr, stdout } from "node:process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { SANDBOX_LEVELS } from "@platform/contract/sandbox";
import type { SandboxReport } from "@platform/contract/sandbox";
import { expectOk, fetchAccessToken, request, subscribe } from "../platform-client.ts";
import type { StatusRecord } from "../platform-client.ts";
import { REPOSITORY, findFreePort, runCli, spawnPlatform, waitUntilReady } from "../platform-process.ts";
import type { PlatformProcess } from "../platform-process.ts";

/** The known optimum of TSPLIB's berlin52. */
const OPTIMUM = 7542;
const ALLOWED_EXCESS = 0.02;
const GATEWAY_PORT = 8080;
const API_PORT = 8090;
const SECOND = 1_000;
const RESULT_WITHIN = 120 * SECOND;
const POLL_EVERY = 250;
/** What a shell reports for a program that Ctrl-C ended. */
const SIGNALLED = 130;

/** The one argument, if any: where to keep the demo's data. */
const dataDirectory = resolve(argv[2] ?? join(REPOSITORY, "data", "demo"));
const project = join(REPOSITORY, "examples", "tsp");
let clock = performance.now();
let isStopping = false;

async function main(): Promise<void> {
  await mkdir(dataDirectory, { recursive: true });
  const gatewayPort = await findFreePort(GATEWAY_PORT);
  const apiPort = await findFreePort(API_PORT);
  const platform = await spawnPlatform({ dataDirectory, gatewayPort, apiPort });
  // From its first moment: a platform whose demo is gone would run for ever.
  stopOnSignals(platform);
  try {
    await waitUntilReady(platform);
    report("platform is ready", `gateway ${platform.gatewayUrl}, platform API ${platform.apiUrl}`);
    await reportIsolation(platform);
    await deployAndCall(platform, describeStart(gatewayPort, apiPort));
  } finally {
    await platform.stop();
  }
  if (!isStopping) report("platform is stopped", "");
}

/** The platform gets a terminal's Ctrl-C as well; the prompt comes back when it is gone. */
function stopOnSignals(platform: PlatformProcess): void {
  const stop = (signal: NodeJS.Signals) => {
    // npm forwards what the terminal has sent already.
    if (isStopping) return;
    stdout.write(`\n${signal}: the platform is being stopped ...\n`);
    isStopping = true;
    void platform.stop().then(() => exit(SIGNALLED));
  };
  process.on("SIGINT", stop).on("SIGTERM", stop).on("SIGHUP", stop);
}

/** How well this machine isolates user code, and what a better isolation needs. */
async function reportIsolation(platform: PlatformProcess): Promise<void> {
  const { sandbox } = await expectOk(
    request<{ sandbox: SandboxReport }>("GET", `${platform.apiUrl}/readyz`, {}),
  );
  report(`isolation level is ${sandbox.level}`, SANDBOX_LEVELS[sandbox.level].gives);
  if (sandbox.missing.every(({ piece }) => piece !== "network"))
    report("network of services", "a way out of their own to the internet, none to this machine");
  for (const { piece, why, remedy } of sandbox.missing)
    stdout.write(`${" ".repeat(11)}without ${piece}: ${why} ${remedy}\n`);
}

/** What starts this platform again, with the addresses that the demo shows. */
function describeStart(gatewayPort: number, apiPort: number): string {
  const inRepository = relative(REPOSITORY, dataDirectory);
  const isBelow = !inRepository.startsWith("..") && !isAbsolute(inRepository);
  return [
    `npm start -- --data-dir ${isBelow ? inRepository : dataDirectory}`,
    ...(gatewayPort === GATEWAY_PORT ? [] : [`--gateway-port ${gatewayPort}`]),
    ...(apiPort === API_PORT ? [] : [`--api-port ${apiPort}`]),
  ].join(" ");
}

async function deployAndCall(platform: PlatformProcess, startAgain: string): Promise<void> {
  const login = { ...(await platform.readLogin()), apiUrl: platform.apiUrl, gatewayUrl: platform.gatewayUrl };
  const cli = async (...args: string[]) => {
    const result = await runCli(args, {
      cwd: project,
      configDirectory: join(dataDirectory, "cli"),
      environment: { PLATFORM_ENDPOINT: platform.apiUrl },
    });
    if (result.code !== 0) throw new Error(`platform ${args[0]} failed:\n${result.stderr}${result.stdout}`);
    return result.stdout;
  };
  await cli("login", "-t", login.personalAccessToken);
  report("CLI is logged in", login.email);

  const deployed = JSON.parse(await cli("up", "--json")) as { serviceKey: string; version: string };
  report("service is deployed", `tsp ${deployed.version} with numpy installed`);

  const subscription = await subscribe(login, deployed.serviceKey, "demo");
  report("application is subscribed", subscription.endpointUrl);

  const endpointUrl = subscription.endpointUrl.replace(/^https?:\/\/[^/]+/, platform.gatewayUrl);
  const token = await fetchAccessToken(platform.gatewayUrl, subscription);
  report("access token is issued", "client_credentials");

  const [data, params] = await Promise.all(
    ["data", "params"].map(
      async (name) => JSON.parse(await readFile(join(project, "input", `${name}.json`), "utf8")) as unknown,
    ),
  );
  const started = await expectOk(
    request<StatusRecord>("POST", endpointUrl, { token, json: { data, params } }),
  );
  report("execution is accepted", started.id);

  const final = await poll(`${endpointUrl}${started.id}`, token);
  report(`execution is ${final.status}`, "52 cities of TSPLIB's berlin52");

  const { result } = await expectOk(
    request<{ result?: { length: number } }>("GET", `${endpointUrl}${started.id}/result`, { token }),
  );
  if (final.status !== "SUCCEEDED" || result === undefined)
    throw new Error(`the execution ended as ${final.status}`);
  const excess = result.length / OPTIMUM - 1;
  report(
    "result is fetched",
    `tour length ${result.length}, ${(100 * excess).toFixed(2)} % above the optimum ${OPTIMUM}`,
  );
  if (excess > ALLOWED_EXCESS)
    throw new Error(`the tour is more than ${100 * ALLOWED_EXCESS} % above the optimum`);

  stdout.write(`
To look around, keep the platform running:  ${startAgain}
  service API docs   ${endpointUrl}docs
                     (sign in with access key ${subscription.keyId} and secret ${subscription.secret})
  platform API docs  ${platform.apiUrl}/api/docs
  your login         ${platform.bootstrapFile}

`);
}

async function poll(url: string, token: string): Promise<StatusRecord> {
  const deadline = Date.now() + RESULT_WITHIN;
  for (;;) {
    const record = await expectOk(request<StatusRecord>("GET", url, { token }));
    if (record.terminal) return record;
    if (Date.now() > deadline) throw new Error(`the execution is still ${record.status}`);
    await delay(POLL_EVERY);
  }
}

/** One line a step, with the time that it took. */
function report(step: string, detail: string): void {
  const now = performance.now();
  stdout.write(`${`${((now - clock) / SECOND).toFixed(2)} s`.padStart(9)}  ${step.padEnd(27)} ${detail}\n`);
  clock = now;
}

main().catch((error: unknown) => {
  // A step that a stopped platform did not answer is no failure of the demo.
  if (isStopping) return;
  stderr.write(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
});
