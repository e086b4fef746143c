import type { PlatformBackend } from "@platform/contract/platform-api/operator-backends";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform backends shared`. */
export const listSharedBackendsCommand = defineCommand({
  name: "backends shared",
  summary: "List the backends that all organisations may use",
  description: ["For operators of the platform. With the service that runs their jobs, and aliases."],
  arguments: {},
  options: {},
  examples: [{ command: "platform backends shared", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const backends = await readAllPages((query) => client.listPlatformBackends({ query }));
    printBackends(context, backends);
    return { json: backends, succeeded: true };
  },
});

/** `platform backends share`. */
export const shareBackendCommand = defineCommand({
  name: "backends share",
  summary: "Let all organisations use a backend",
  description: [
    "For operators of the platform. Jobs of every organisation that name the id run on the latest live version of the service; each is seen by the organisation that has sent it alone. An organisation's own backend of the same id goes first for its jobs.",
    "Without --service: the backend of this id that the organisation has that you work in.",
  ],
  arguments: { id: { description: "Id of the backend, such as sim.statevector", required: true } },
  options: {
    service: {
      kind: "text",
      placeholder: "key",
      description: "Key of the service that runs its jobs",
    },
  },
  examples: [{ command: "platform backends share sim.statevector", comment: "One simulator for everybody" }],
  run: async (context, { arguments: { id }, options: { service } }) => {
    const { client, quantum } = await openSession(context);
    const serviceKey = service ?? (await quantum.getBackend({ params: { backendId: id } })).internal_id;
    const backend = await client.putPlatformBackend({ params: { backendId: id }, body: { serviceKey } });
    printBackends(context, [backend]);
    return { json: backend, succeeded: true };
  },
});

/** `platform backends alias`. */
export const aliasBackendCommand = defineCommand({
  name: "backends alias",
  summary: "Let a simulator that is shared stand in for that of a vendor",
  description: [
    "For operators of the platform. Programs that name the simulator of a vendor then run unchanged; its display name says what simulates it.",
    "sim.statevector understands azure.ionq.simulator, kipu.sim.qsim and qudora.sim.xg1.",
  ],
  arguments: {
    alias: { description: "The other id, such as azure.ionq.simulator", required: true },
    id: { description: "Id of a simulator that is shared", required: true },
  },
  options: {},
  examples: [
    {
      command: "platform backends alias azure.ionq.simulator sim.statevector",
      comment: "For programs that name it",
    },
  ],
  run: async (context, { arguments: { alias, id } }) => {
    const { client } = await openSession(context);
    const backend = await client.putPlatformBackend({
      params: { backendId: alias },
      body: { aliasOf: id },
    });
    printBackends(context, [backend]);
    return { json: backend, succeeded: true };
  },
});

/** `platform backends unshare`. */
export const unshareBackendCommand = defineCommand({
  name: "backends unshare",
  summary: "Take a backend back from other organisations, with its aliases; or an alias alone",
  description: [
    "For operators of the platform. Its service stays the backend of its own organisation. Jobs that were started run to their end.",
  ],
  arguments: { id: { description: "Id of the backend, or the alias", required: true } },
  options: {},
  examples: [{ command: "platform backends unshare azure.ionq.simulator", comment: "The alias alone" }],
  run: async (context, { arguments: { id } }) => {
    const { client } = await openSession(context);
    await client.deletePlatformBackend({ params: { backendId: id } });
    context.output.print(`${cleanText(id)} is shared no more.`);
    return { json: { id }, succeeded: true };
  },
});

function printBackends({ output }: CommandContext, backends: readonly PlatformBackend[]): void {
  output.printTable(
    ["ID", "ALIAS OF", "VERSION", "SERVICE", "ORGANISATION", "SINCE"],
    backends.map(({ id, aliasOf, version, service, sharedAt }) => [
      cleanText(id),
      cleanText(aliasOf ?? "-"),
      version ?? "none is live",
      cleanText(service.name),
      cleanText(service.organization),
      sharedAt,
    ]),
    "No backend is shared: 'platform backends share ID' shares one.",
  );
}
