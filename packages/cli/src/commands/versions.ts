import { defineCommand } from "../base/command.ts";
import { findService } from "../project/find-service.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform versions`: reads all pages before it prints. */
export const versionsCommand = defineCommand({
  name: "versions",
  summary: "List the versions of a service",
  description: ["Newest first. Without an argument, lists the versions of the project in this folder."],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {},
  examples: [
    { command: "platform versions", comment: "Versions of the project in this folder" },
    { command: "platform versions tsp --json", comment: "Versions of another service, for a script" },
  ],
  run: async (context, input) => {
    const { client } = await openSession(context);
    const service = await findService(context, client, input.arguments.service);
    const versions = await readAllPages((query) =>
      client.listVersions({ params: { key: service.key }, query }),
    );
    context.output.printTable(
      ["VERSION", "STATE", "CPU", "MEMORY", "CREATED", "RETIRED"],
      versions.map((version) => [
        version.version,
        version.status,
        String(version.resources.cpu),
        `${version.resources.memory} GB`,
        version.createdAt,
        version.retiredAt ?? "-",
      ]),
      `'${service.name}' has no live version yet.`,
    );
    return { json: versions, succeeded: true };
  },
});
