/** `npm run demo`: from nothing to a service of one organisation that another one calls until the cap of its plan, the way newcomers would go. */
import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import process, { argv, execPath, exit, stderr, stdout } from "node:process";
import { getMessage } from "@platform/engine/base/thrown";
import { SANDBOX_LEVELS } from "@platform/contract/sandbox";
import type { SandboxReport } from "@platform/contract/sandbox";
import { expectOk, request } from "../platform-client.ts";
import { REPOSITORY, findFreePort, spawnPlatform, waitUntilReady } from "../platform-process.ts";
import type { PlatformProcess } from "../platform-process.ts";
import { findCustomer } from "./customer.ts";
import { createDemoCli } from "./demo-cli.ts";
import { PLAN, provide } from "./provide.ts";
import { BACKEND, CIRCUIT, runQuantum } from "./quantum.ts";
import { announce, remark, report } from "./report.ts";
import { use } from "./use.ts";
import { USAGE, readWish } from "./wish.ts";
import type { Wish } from "./wish.ts";

const GATEWAY_PORT = 8080;
const API_PORT = 8090;
/** What a shell reports for a program that Ctrl-C ended. */
const SIGNALLED = 130;

/** What is reported for arguments that are wrong. */
const MISUSED = 2;

const { dataDirectory, hasQuantum } = listen();
let isStopping = false;

/** What is asked for; exits when that is no demo. */
function listen(): Wish {
  try {
    const wish = readWish(argv.slice(2));
    if (!wish.isHelp) return wish;
    stdout.write(USAGE);
    return exit(0);
  } catch (error) {
    stderr.write(`${getMessage(error)}\n\n${USAGE}`);
    return exit(MISUSED);
  }
}

async function main(): Promise<void> {
  // Without it the demo goes on, and says so.
  spawnSync(execPath, ["tools/build-console.ts"], { cwd: REPOSITORY, stdio: "inherit" });
  await mkdir(dataDirectory, { recursive: true });
  const gatewayPort = await findFreePort(GATEWAY_PORT);
  const apiPort = await findFreePort(API_PORT);
  const platform = await spawnPlatform({
    dataDirectory,
    gatewayPort,
    apiPort,
    // Its second user is invited by nobody.
    flags: ["--sign-up", "open"],
  });
  // From its first moment: a platform whose demo is gone would run for ever.
  stopOnSignals(platform);
  try {
    await waitUntilReady(platform);
    report("platform is ready", `gateway ${platform.gatewayUrl}, platform API ${platform.apiUrl}`);
    await reportIsolation(platform);
    await show(platform, describeStart(gatewayPort, apiPort));
    await showConsole(platform);
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
  for (const { piece, why, remedy } of sandbox.missing) remark(`without ${piece}: ${why} ${remedy}`);
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

/** Where the CLI of a user keeps its login. */
function findConfigDirectory(user: "provider" | "customer"): string {
  return join(dataDirectory, "cli", user);
}

/** One organisation provides a service, another one uses it. */
async function show(platform: PlatformProcess, startAgain: string): Promise<void> {
  const { apiUrl, gatewayUrl } = platform;
  const provider = await platform.readLogin();
  announce("The first user of the platform provides a service:");
  const providerCli = createDemoCli(findConfigDirectory("provider"), apiUrl);
  await provide(providerCli, provider.personalAccessToken);
  if (hasQuantum) {
    announce("... and circuits on a simulator of the organisation:");
    await runQuantum(providerCli, (project) =>
      createDemoCli(findConfigDirectory("provider"), apiUrl, project),
    );
  }

  announce("Ada, of another organisation, uses it:");
  const customerFile = join(dataDirectory, "customer.json");
  const cli = createDemoCli(findConfigDirectory("customer"), apiUrl);
  const customer = await findCustomer(apiUrl, customerFile);
  report("signed up", `${customer.email}, as the console does it`);
  await cli("login", "-t", customer.personalAccessToken);
  report("platform login -t TOKEN", customer.email);
  const { endpointUrl, subscriptionId, keyId, secret } = await use(cli, {
    gatewayUrl,
    apiUrl,
    personalAccessToken: customer.personalAccessToken,
  });

  const as = (user: "provider" | "customer") => `PLATFORM_CONFIG_DIR=${findConfigDirectory(user)}`;
  stdout.write(`
To look around, keep the platform running:  ${startAgain}
  service API docs   ${endpointUrl}docs
                     (sign in with access key ${keyId} and secret ${secret})
  platform API docs  ${apiUrl}/api/docs
  logins             ${platform.bootstrapFile} (provider), ${customerFile} (Ada)
Then try, in another terminal:
  ${as("provider")} npx platform plans put ${PLAN} tsp --cap 10
  ${as("customer")} npx platform subscriptions change ${subscriptionId} --plan ${PLAN}
  ${as("provider")} npx platform subscriptions ls --of tsp
${hasQuantum ? describeQuantum(apiUrl, as("provider")) : ""}
`);
}

/** More to try, on the simulator. */
function describeQuantum(apiUrl: string, as: string): string {
  return `  ${as} npx platform quantum run ${relative(REPOSITORY, CIRCUIT)} --backend ${BACKEND} --shots 100
  ${as} npx platform quantum jobs
  and docs/guide/quantum.md: from Python, a backend of your own; the API is at ${apiUrl}/quantum/docs
`;
}

/** The last lines: what to open, and with which login. */
async function showConsole({ apiUrl, readLogin }: PlatformProcess): Promise<void> {
  const { email, password } = await readLogin();
  // The page that says how to build it is no console.
  const page = await fetch(apiUrl, { headers: { accept: "text/html" } });
  stdout.write(`The console, in a browser:  ${apiUrl}
  login              ${email}, password ${password}
${page.ok ? "" : "  It is not built yet: npm run build -w packages/console\n"}
`);
}

main().catch((error: unknown) => {
  // A step that a stopped platform did not answer is no failure of the demo.
  if (isStopping) return;
  stderr.write(`The demo failed: ${getMessage(error)}\n`);
  exit(1);
});
