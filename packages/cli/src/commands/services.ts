import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform services`: reads all pages before it prints. */
export const servicesCommand = defineCommand({
  name: "services",
  summary: "List the services of the organisation",
  description: ["Newest first, with the latest live version and whether applications can subscribe."],
  arguments: {},
  options: {},
  examples: [
    { command: "platform services", comment: "A table" },
    { command: "platform services --json | jq -r '.[].key'", comment: "Only the keys" },
  ],
  run: async (context) => {
    const { client } = await openSession(context);
    const services = await readAllPages((query) => client.listServices({ query }));
    context.output.printTable(
      ["NAME", "LATEST", "PUBLISHED", "KEY", "CREATED"],
      services.map((service) => [
        cleanText(service.name),
        service.latestVersion ?? "-",
        service.publication ?? "no",
        service.key,
        service.createdAt,
      ]),
      "No services yet. Deploy one with 'platform up' in a project's folder.",
    );
    return { json: services, succeeded: true };
  },
});
