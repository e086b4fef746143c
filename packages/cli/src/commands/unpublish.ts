import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** `platform unpublish`: takes a service back. */
export const unpublishCommand = defineCommand({
  name: "unpublish",
  summary: "Take a service back: no application can subscribe to it",
  description: [
    "Without an argument, takes back the service of the project in this folder. Existing subscriptions keep working until they are ended.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {},
  examples: [{ command: "platform unpublish tsp", comment: "No new subscriptions to tsp" }],
  run: async (context, { arguments: { service: given } }) => {
    const { client } = await openSession(context);
    const { key } = await findService(context, client, given);
    const service = await client.unpublishService({ params: { key } });
    context.output.print(`No application can subscribe to ${service.name} any more.`);
    return { json: service, succeeded: true };
  },
});
