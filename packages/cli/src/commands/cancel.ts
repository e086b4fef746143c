import { defineCommand } from "../base/command.ts";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { describeFailure, waitForJob } from "../jobs/job.ts";
import { readJobResult } from "../jobs/job-result.ts";
import { openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";

const SETTLE_SECONDS = 20;

/** `platform cancel`: waits up to 20 s for the job to end, then prints its state. Fails when the job ended otherwise than FAILED. */
export const cancelCommand = defineCommand({
  name: "cancel",
  summary: "Cancel a job",
  description: [
    "A pending job ends at once; the processes of a running job are stopped. Its state is then FAILED with code CANCELLED.",
    "A job that had ended before stays as it is. The exit code is 1 if it had succeeded, or if its worker was lost.",
  ],
  arguments: { id: { description: "Id of the job", required: false } },
  options: {
    batch: {
      kind: "text",
      placeholder: "id",
      description: "Cancel all jobs of this batch that have not ended, without waiting for their ends",
    },
  },
  examples: [
    { command: "platform cancel 0198c1de-7a53-7000-8000-000000000000", comment: "Cancel a job" },
    {
      command: "platform cancel --batch 0198c1de-7a53-7000-8000-000000000000",
      comment: "Cancel what 'platform run --batch' has started",
    },
  ],
  run: async (context, { arguments: { id }, options: { batch: batchId } }) => {
    if ((id === undefined) === (batchId === undefined))
      throw createUsageError("Give the id of a job, or --batch with that of a batch.");
    if (id === undefined) return await cancelBatch(context, batchId ?? "");
    const session = await openSession(context);
    const { client } = session;
    const asked = await client.cancelJob({ params: { id } });
    const waiting = { signal: context.signal, timeoutSeconds: SETTLE_SECONDS };
    const job = asked.terminal ? asked : await waitForJob(client, id, waiting);
    const succeeded = job.status === "FAILED" || !job.terminal;
    if (!job.terminal) context.output.print(`The job is ${job.status}; its cancellation was requested.`);
    else if (job.status === "FAILED") context.output.print(await describeEnd(session, id));
    else context.output.print(`The job was already ${job.status}; it was not cancelled.`);
    return { json: job, succeeded };
  },
});

async function cancelBatch(context: CommandContext, batchId: string): Promise<CommandResult> {
  const { client } = await openSession(context);
  const batch = await client.cancelJobBatch({ params: { batchId } });
  const { counts, total, refused } = batch;
  if (!batch.cancelled) {
    context.output.print(`Batch    ${batch.id} had already ended; nothing of it was cancelled.`);
    return { json: batch, succeeded: true };
  }
  context.output.print(`Batch    ${batch.id}: its cancellation was requested.`);
  context.output.print(
    `Jobs     ${total - refused}, ${counts.RUNNING} of them are being stopped, ${counts.SUCCEEDED} had succeeded.`,
  );
  return { json: batch, succeeded: true };
}

/** Whether it was cancelled, now or before, or had failed for another reason. */
async function describeEnd(session: Session, id: string): Promise<string> {
  const { answer } = await readJobResult(session, id);
  if (answer.code === "CANCELLED") return "The job was cancelled.";
  return `The job had already ended; it was not cancelled. ${describeFailure(answer)}`;
}
