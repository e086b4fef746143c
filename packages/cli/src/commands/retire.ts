import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** `platform retire`: a version takes no new executions. */
export const retireCommand = defineCommand({
  name: "retire",
  summary: "Retire a version: it takes no new executions",
  description: [
    "Without a service, retires a version of the project in this folder. What runs goes on, and results stay. There is no way back.",
  ],
  arguments: {
    version: { description: "MAJOR.MINOR.PATCH; see 'platform versions'", required: true },
    service: { description: "Name or key of the service", required: false },
  },
  options: {},
  examples: [{ command: "platform retire 1.0.0 tsp", comment: "Calls of 1.0.0 are refused from now on" }],
  run: async (context, { arguments: { version, service: given } }) => {
    const { client } = await openSession(context);
    const { key, name } = await findService(context, client, given);
    const retired = await client.retireVersion({ params: { key, version } });
    context.output.print(`Version ${retired.version} of ${cleanText(name)} takes no new executions.`);
    return { json: retired, succeeded: true };
  },
});
