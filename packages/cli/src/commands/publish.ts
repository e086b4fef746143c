import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** `platform publish`: says who can subscribe to a service. */
export const publishCommand = defineCommand({
  name: "publish",
  summary: "Let applications subscribe to a service",
  description: [
    "Without an argument, publishes the service of the project in this folder. Existing subscriptions keep working, whatever the scope.",
    "In the marketplace a service without a plan gets the plan 'free'; see 'platform plans ls'.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {
    to: {
      kind: "text",
      placeholder: "scope",
      description: "Who can subscribe: applications of the organisation, or of all organisations",
      choices: ["internal", "marketplace"],
      default: "internal",
    },
  },
  examples: [
    { command: "platform publish", comment: "For applications of the organisation" },
    { command: "platform publish tsp --to marketplace", comment: "For everybody" },
  ],
  run: async (context, { arguments: { service: given }, options }) => {
    const { client } = await openSession(context);
    const { key } = await findService(context, client, given);
    const scope = options.to === "marketplace" ? "marketplace" : "internal";
    const service = await client.publishService({ params: { key }, body: { scope } });
    const who = scope === "marketplace" ? "all organisations" : "this organisation";
    context.output.print(`Applications of ${who} can subscribe to ${service.name}.`);
    context.output.print(`Next  platform subscribe ${service.key} APPLICATION`);
    return { json: service, succeeded: true };
  },
});
