import { defineCommand } from "../base/command.ts";
import { printStatus } from "../jobs/job.ts";
import { formatJobLink, openSession } from "../base/session.ts";

/** `platform status`: the state of a job at present; does not wait. */
export const statusCommand = defineCommand({
  name: "status",
  summary: "Show the state of a job",
  description: ["PENDING and RUNNING are not finished; SUCCEEDED, FAILED and UNKNOWN are final."],
  arguments: { id: { description: "Id of the job, as 'platform run' printed it", required: true } },
  options: {},
  examples: [{ command: "platform status 0198c1de-7a53-7000-8000-000000000000", comment: "State and times" }],
  run: async (context, input) => {
    const session = await openSession(context);
    const job = await session.client.getJob({ params: { id: input.arguments.id } });
    printStatus(context.output, job);
    return { json: { ...job, link: formatJobLink(session.endpoint, job.id) }, succeeded: true };
  },
});
