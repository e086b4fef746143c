import type { Backend } from "@platform/contract/quantum-api/backends";
import { SECOND } from "@platform/engine/base/time";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createInterruption, createUsageError } from "../base/errors.ts";
import { cleanLine, cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { QuantumClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";
import { deployProject } from "../project/deploy.ts";
import { BUNDLED_BACKENDS, withBundledBackend } from "../quantum/bundled-backend.ts";
import { describePrice } from "../quantum/costs.ts";

/** Workers look for backends every two seconds while there was none. */
const ONLINE_SECONDS = 20;

/** `platform backends`. */
export const listBackendsCommand = defineCommand({
  name: "backends ls",
  isDefault: true,
  summary: "List the backends that quantum jobs can be run on",
  description: [
    "By id, with how many jobs wait. ONLINE: it runs jobs. PAUSED: jobs wait, since no worker runs them at present.",
  ],
  arguments: {},
  options: {
    provider: { kind: "text", placeholder: "name", description: "Only those of this provider" },
    qubits: {
      kind: "number",
      placeholder: "count",
      description: "Only those with so many qubits",
      minimum: 1,
      maximum: 1_000_000,
      isInteger: true,
    },
  },
  examples: [{ command: "platform backends --qubits 20", comment: "Those with 20 qubits and more" }],
  run: async (context, { options: { provider, qubits } }) => {
    const { quantum } = await openSession(context);
    const backends = await quantum.listBackends({
      query: {
        ...(provider === undefined ? {} : { provider }),
        ...(qubits === undefined ? {} : { minQubits: qubits }),
      },
    });
    const isFiltered = provider !== undefined || qubits !== undefined;
    context.output.printTable(
      ["ID", "TYPE", "STATUS", "QUBITS", "WAITING", "VERSION", "NAME"],
      backends.map((backend) => [
        backend.id,
        backend.type,
        backend.status,
        countQubits(backend),
        String(backend.queue_size),
        backend.backend_version,
        cleanText(backend.display_name),
      ]),
      isFiltered
        ? "No backend matches; 'platform backends' lists all."
        : "No backends yet. 'platform backends install statevector' adds a simulator; a project with a backend in platform.json becomes one by 'platform up'.",
    );
    return { json: backends, succeeded: true };
  },
});

/** `platform backends show`. */
export const showBackendCommand = defineCommand({
  name: "backends show",
  summary: "Show a backend: its state, and what jobs may ask of it",
  description: ["With --json, as the quantum API has it."],
  arguments: { id: { description: "Id of the backend", required: true } },
  options: {},
  examples: [{ command: "platform backends show sim.statevector", comment: "Qubits, gates, formats" }],
  run: async (context, { arguments: { id } }) => {
    const { quantum } = await openSession(context);
    const backend = await quantum.getBackend({ params: { backendId: id } });
    const { output } = context;
    const { configuration } = backend;
    output.print(`Backend   ${backend.id}  ${cleanLine(backend.display_name)}`);
    output.print(
      `Type      ${backend.type}, ${cleanLine(backend.technology)}, of ${cleanLine(backend.provider)}`,
    );
    output.print(`State     ${backend.status}, ${backend.queue_size} waiting`);
    output.print(`Version   ${backend.backend_version}, ${backend.updated_at}`);
    output.print(`Qubits    ${countQubits(backend)}`);
    output.print(`Price     ${cleanLine(describePrice(backend))}`);
    if (configuration !== undefined) {
      const {
        shots_range: shots,
        max_pubs_per_job: circuits,
        supported_input_formats: formats,
      } = configuration;
      output.print(`Shots     ${shots.min} to ${shots.max}`);
      output.print(`Circuits  ${circuits} a job, at most`);
      output.print(`Formats   ${formats.join(", ")}`);
      const gates = (configuration.gates ?? []).map(({ name }) => cleanLine(name));
      if (gates.length > 0) output.print(`Gates     ${gates.join(" ")}`);
    }
    const { description, url } = backend.documentation;
    for (const text of [description, url])
      if (text !== undefined && text !== "") output.print(cleanText(text));
    return { json: backend, succeeded: true };
  },
});

/** `platform backends install`: deploys a bundled backend as a service of the organisation. */
export const installBackendCommand = defineCommand({
  name: "backends install",
  summary: "Add a backend that ships with the CLI",
  description: [
    ...BUNDLED_BACKENDS.map(({ name, id, text }) => `${name}: ${id}, ${text}.`),
    "It becomes a service of the organisation, whose requirements are installed as those of any other: the first time takes a minute or two. Repeating it deploys what has changed, or nothing.",
    "Its jobs have capacity of their own on each worker (--backend-cpu and --backend-memory of the platform).",
  ],
  arguments: { name: { description: BUNDLED_BACKENDS.map(({ name }) => name).join(", "), required: true } },
  options: {},
  examples: [{ command: "platform backends install statevector", comment: "Exact simulation of circuits" }],
  run: async (context, { arguments: { name } }) => {
    const bundled = BUNDLED_BACKENDS.find((known) => known.name === name || known.id === name);
    if (bundled === undefined)
      throw createUsageError(
        `'${cleanText(name)}' is no bundled backend; there are ${BUNDLED_BACKENDS.map((known) => known.name).join(", ")}.`,
      );
    const session = await openSession(context);
    const { service, build, changed } = await withBundledBackend(bundled.name, (directory) =>
      deployProject({ ...context, directory }, session, {}),
    );
    if (build.status !== "SUCCEEDED")
      throw new UserError(
        build.code ?? "BUILD_FAILED",
        `The build of ${service.name} ${build.version} did not succeed.`,
        {
          hint: build.detail ?? "The log is above.",
        },
      );
    const backend = await waitUntilOnline(context, session.quantum, bundled.id);
    context.output.print(
      `${bundled.id} ${backend.backend_version} is ${backend.status}${changed ? "" : ", with the same content as before"}.`,
    );
    if (backend.status !== "ONLINE")
      context.output.warn("No worker runs executions of backends at present; its jobs wait until one does.");
    return { json: { ...backend, changed }, succeeded: true };
  },
});

async function waitUntilOnline(
  { signal }: Pick<CommandContext, "signal">,
  quantum: QuantumClient,
  backendId: string,
): Promise<Backend> {
  const deadline = Date.now() + ONLINE_SECONDS * SECOND;
  for (;;) {
    const backend = await retryRead(() => quantum.getBackend({ params: { backendId } }), signal);
    if (backend.status === "ONLINE" || Date.now() > deadline) return backend;
    await pause(SECOND / 2, signal);
    if (signal.aborted)
      throw createInterruption(
        `It is installed; 'platform backends show ${backendId}' says whether it runs.`,
      );
  }
}

function countQubits({ configuration }: Backend): string {
  return String(configuration?.qubit_count ?? configuration?.variable_count ?? "-");
}
