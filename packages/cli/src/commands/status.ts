import { defineCommand } from "../base/command.ts";
import { printStatus } from "../jobs/job.ts";
import type { FailureCause, Job } from "../jobs/job.ts";
import { formatJobLink, openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";

/** `platform status`: the state of a job at present; does not wait. */
export const statusCommand = defineCommand({
  name: "status",
  summary: "Show the state of a job",
  description: [
    "PENDING and RUNNING are not finished; SUCCEEDED, FAILED and UNKNOWN are final.",
    "A job that did not succeed is shown with its code and detail. The exit code is 0 for every state.",
  ],
  arguments: { id: { description: "Id of the job, as 'platform run' printed it", required: true } },
  options: {},
  examples: [{ command: "platform status 0198c1de-7a53-7000-8000-000000000000", comment: "State and times" }],
  run: async (context, input) => {
    const session = await openSession(context);
    const job = await session.client.getJob({ params: { id: input.arguments.id } });
    const cause = await readCause(session, job);
    printStatus(context.output, job, cause);
    return { json: { ...job, ...cause, link: formatJobLink(session.endpoint, job.id) }, succeeded: true };
  },
});

/** Empty: it succeeded, or is not finished. */
async function readCause({ client }: Session, { id, status, terminal }: Job): Promise<FailureCause> {
  if (!terminal || status === "SUCCEEDED") return {};
  const { code, detail } = await client.getJobResult({ params: { id } });
  return { ...(code === undefined ? {} : { code }), ...(detail === undefined ? {} : { detail }) };
}
