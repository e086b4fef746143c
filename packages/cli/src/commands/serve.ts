import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ServicePolicy } from "@platform/contract/policy";
import { SANDBOX_LEVELS } from "@platform/contract/sandbox";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { findServeAssets } from "../base/assets.ts";
import { readLogin } from "../base/session.ts";
import type { Output } from "../base/output.ts";
import { describePolicy } from "../project/describe-policy.ts";
import { checkPolicy, readPolicyFile } from "../serve/policy-file.ts";
import { readWebhookSettings } from "../serve/webhook-settings.ts";
import type { WebhookSettings } from "../serve/webhook-settings.ts";
import { FAULTS, parseFaults } from "../serve/fault-table.ts";
import type { Fault } from "../serve/fault-table.ts";
import type { PolicySettings } from "../serve/local-policy.ts";
import type { LocalServer } from "../serve/local-server.ts";
import type { LocalPools } from "../serve/pool-folder.ts";

const DEFAULT_PORT = 8081;
const DEFAULT_POOLS = "datapools";
const LARGEST_PORT = 65_535;
const LARGEST_SEED = 2 ** 31;
/** Lines about data pools. */
const MAX_PRINTED = 40;

/** `platform serve`: runs until the context's signal aborts (Ctrl-C). Sends no request to the platform, but those of executions with --quantum. */
export const serveCommand = defineCommand({
  name: "serve",
  summary: "Serve the project on this machine",
  description: [
    "The same operations, status codes and errors as a deployed service, on /, /{id} and /{id}/result, with interactive documentation at /docs, and a form of the input that runs it and shows result and log at /try. Any bearer token is accepted; none is needed.",
    "The variables and secrets of the program are read from the file .env beside platform.json (NAME=value); it is never packed.",
    "Every edit reloads the code and the requirements; if an import fails, the error is shown and the server keeps running.",
    "Each folder below that of --pools is a data pool, each file in it a file that dataRef and paramsRef can name: the server prints the reference of each when it starts. They are the same at every start. To have those of the platform, save the list of its files beside the folder, for the folder Maps as Maps.json: platform pools ls Maps --json (or GET /api/data-pools/{id}/files).",
    "--policy limits, orders and retries executions as the platform does with the same policy; all requests count as of one subscription. Edits of the file are reloaded as well.",
    "The URL that a start names as webhookUrl is told the end of its execution, signed as on a platform, with four tries within half a minute: on this machine (localhost), in the internet, and in the ranges of --webhook-open. The secret is printed at the start.",
    `--fault lets things go wrong as they do on a platform: the nth start has the same fate for the same seed. Of requests: ${listFaults("request")}. Of executions: ${listFaults("execution")}.`,
    "With --quantum, executions use quantum backends as they do on the platform: their jobs are yours. Your login stays with this server; executions reach the quantum API through it, and nothing else of the platform.",
    "Code is isolated as well as this machine allows; the isolation level (A to D) is printed at the start. Ctrl-C stops the server.",
  ],
  arguments: {},
  options: {
    port: {
      kind: "number",
      placeholder: "port",
      description: "Port to listen on; 0 chooses a free port",
      default: DEFAULT_PORT,
      minimum: 0,
      maximum: LARGEST_PORT,
      isInteger: true,
    },
    host: {
      kind: "text",
      placeholder: "host",
      description: "Address to listen on; 0.0.0.0 allows requests from other machines",
      default: "localhost",
    },
    allowHost: {
      kind: "text",
      placeholder: "name",
      description:
        "Another host name under which this server may be called. localhost and IP addresses are always allowed; other names are refused because of DNS rebinding",
    },
    fault: {
      kind: "text",
      placeholder: "faults",
      description:
        "Faults for trying out a client, with commas: a name, =duration where it has one, @share (default: all), for example worker-lost@30%,slow-start=2s",
    },
    faultSeed: {
      kind: "number",
      placeholder: "number",
      description:
        "Decides which requests and executions faults befall; printed at the start (default: chosen)",
      minimum: 0,
      maximum: LARGEST_SEED,
      isInteger: true,
    },
    policy: {
      kind: "text",
      placeholder: "file",
      description:
        "Run executions by this policy, a JSON file as for 'platform services policy --set'; - is standard input",
    },
    webhookSecret: {
      kind: "text",
      placeholder: "secret",
      description:
        "Sign messages to webhookUrl with this secret: whsec_ and base64 of 24 to 64 bytes (default: a new one)",
    },
    webhookOpen: {
      kind: "text",
      placeholder: "ranges",
      description:
        "Private ranges in which webhookUrl may be too, separated by commas, such as 192.168.0.0/16",
    },
    quantum: {
      kind: "flag",
      description:
        "Let executions use the quantum backends of the platform that you are logged in to, as you (needs 'platform login')",
    },
    pools: {
      kind: "text",
      placeholder: "folder",
      description: "Folder of the local data pools",
      default: DEFAULT_POOLS,
    },
  },
  examples: [
    { command: "platform serve", comment: "http://localhost:8081" },
    {
      command: `curl -H 'Content-Type: application/json' -d '{"data": {}}' http://localhost:8081/`,
      comment: "Start an execution",
    },
    { command: "platform serve --port 9000 --pools ~/pools", comment: "Another port and folder" },
    { command: "platform serve --policy policy.json", comment: "With the limits and retries of the service" },
    {
      command: "platform serve --fault worker-lost@30%,429@10%,slow-start=2s --fault-seed 7",
      comment: "What a client must cope with",
    },
  ],
  run: async (context, { options }) => {
    // Loaded on demand: the engine is most of the program and would delay the start of the other commands.
    const { startLocalServer } = await import("../serve/local-server.ts");
    const faults = options.fault === undefined ? [] : parseFaults(options.fault);
    const faultSeed = options.faultSeed ?? randomInt(LARGEST_SEED);
    const policy = options.policy === undefined ? null : await openPolicy(context, options.policy);
    const webhooks = readWebhookSettings({ secret: options.webhookSecret, open: options.webhookOpen });
    const quantum = options.quantum ? await readLogin(context) : null;
    const progress = context.output.startProgress("Preparing the project");
    let server: LocalServer;
    try {
      server = await startLocalServer({
        projectDirectory: context.directory,
        dataPoolsDirectory: resolve(context.directory, options.pools),
        host: options.host,
        allowedHosts: options.allowHost === undefined ? [] : [options.allowHost],
        port: options.port,
        settings: context.settings,
        output: context.output,
        faults,
        faultSeed,
        policy,
        webhooks,
        quantum,
        signal: context.signal,
        ...findServeAssets(),
      });
    } finally {
      progress.stop();
    }
    printAddresses(context, server, { faults, faultSeed, policy: policy?.policy ?? null, webhooks });
    if (quantum !== null) context.output.note(`  Quantum        backends of ${quantum.endpoint}, as you`);
    if (options.pools !== DEFAULT_POOLS && !existsSync(resolve(context.directory, options.pools)))
      context.output.note(`  Data pools     none: there is no folder ${options.pools} yet`);
    await waitForAbort(context.signal);
    context.output.note("Stopping.");
    await server.close();
    return { json: undefined, succeeded: true };
  },
});

/** @throws UserError when there is no such file, or it has no policy */
async function openPolicy(context: CommandContext, from: string): Promise<PolicySettings> {
  const read = async () => await checkPolicy(await readPolicyFile(context, { from, option: "--policy" }));
  return { policy: await read(), read, file: from === "-" ? null : resolve(context.directory, from) };
}

/** What is served differently from a project as it is. */
interface Conditions {
  readonly faults: readonly Fault[];
  readonly faultSeed: number;
  readonly policy: ServicePolicy | null;
  readonly webhooks: WebhookSettings;
}

function printAddresses(
  context: CommandContext,
  server: LocalServer,
  { faults, faultSeed, policy, webhooks }: Conditions,
): void {
  const { output } = context;
  const { url, version, sandbox } = server;
  output.print(`Serving ${output.paint("bold", version.project.name)} with Python ${server.pythonVersion}`);
  output.print(`  Try it         ${server.tryUrl}`);
  output.print(`  API            ${url}/`);
  output.print(`  Documentation  ${url}/docs`);
  output.print(`  OpenAPI        ${url}/openapi.json`);
  output.print(`  Isolation      level ${sandbox.level}: ${SANDBOX_LEVELS[sandbox.level].gives}`);
  const network = sandbox.missing.find(({ piece }) => piece === "network");
  if (network !== undefined)
    output.note(`  Network        this machine's, unless platform.json says "none": ${network.why}`);
  if (sandbox.level === "D")
    for (const { piece, why, remedy } of sandbox.missing) output.note(`  Without ${piece}: ${why} ${remedy}`);
  if (faults.length > 0)
    output.print(`  Faults         ${faults.map(describeFault).join(", ")} (--fault-seed ${faultSeed})`);
  if (policy !== null) printPolicy(output, policy);
  const { secret, isGiven } = webhooks;
  output.print(`  Webhooks       signed with ${isGiven ? "the secret of --webhook-secret" : secret}`);
  printPools(output, server.dataPools);
  output.print("Edits are reloaded. Ctrl-C stops the server.");
  if (!output.isJson) return;
  const described = {
    url,
    tryUrl: server.tryUrl,
    docsUrl: `${url}/docs`,
    openApiUrl: `${url}/openapi.json`,
    sandbox: sandbox.level,
    ...(faults.length === 0 ? {} : { faults: faults.map(describeFault), faultSeed }),
    ...(policy === null ? {} : { policy }),
    webhookSecret: secret,
    dataPools: server.dataPools.pools.map(({ id, name, files }) => ({
      name,
      dataPoolId: id,
      files: files.map((file) => ({ name: file.name, reference: file.reference })),
    })),
  };
  output.write(`${JSON.stringify({ name: version.project.name, ...described }, null, 2)}\n`);
}

function printPolicy(output: Output, policy: ServicePolicy): void {
  const lines = describePolicy(policy).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
  output.print(`  Policy         ${lines.join("; ")}`);
  if (policy.priority === "high")
    output.note("  Priority       high: on a platform only where its operator allows it");
}

function describeFault({ name, share, durationMs }: Fault): string {
  const duration = durationMs === 0 ? "" : `=${durationMs}ms`;
  return `${name}${duration}@${Math.round(share * 10_000) / 100}%`;
}

function listFaults(to: Fault["kind"]["to"]): string {
  return Object.entries(FAULTS)
    .filter(([, { kind }]) => kind.to === to)
    .map(([name, { says }]) => `${name} (${says})`)
    .join(", ");
}

/** The references as they stand in a start, to be copied. */
function printPools(output: Output, { pools, notes }: LocalPools): void {
  for (const note of notes.slice(0, MAX_PRINTED)) output.note(`  ${note}`);
  const lines = pools.flatMap(({ id, name, files }) => [
    `  Data pool      ${name} ${JSON.stringify({ dataPoolId: id })}`,
    ...files.map((file) => `    ${file.name} ${JSON.stringify(file.reference)}`),
  ]);
  for (const line of lines.slice(0, MAX_PRINTED)) output.print(line);
  const left = lines.length - MAX_PRINTED;
  if (left > 0) output.print(`    ... and ${left} more: 'platform serve --json' prints all.`);
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) {
      done();
      return;
    }
    // The pending promise does not keep the process running; the open server does.
    signal.addEventListener("abort", () => done(), { once: true });
  });
}
