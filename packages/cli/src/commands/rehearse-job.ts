import { DRY_RUN } from "@platform/contract/rehearsal";
import type { Rehearsal } from "@platform/contract/rehearsal";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import type { CommandContext } from "../base/context.ts";
import type { PlatformClient } from "../base/session.ts";
import { describeWaiting } from "../jobs/job.ts";
import { printRefused } from "./run-batch.ts";

/** `platform run --dry-run`: what the start would do. Nothing is created. */
export async function rehearseJob(
  { output }: CommandContext,
  client: PlatformClient,
  request: Parameters<PlatformClient["startJob"]>[0],
) {
  const answer = await client.startJob({ ...request, prefer: DRY_RUN });
  if ("id" in answer) {
    // Its key has started it before; or the platform is an older one, and has started it now.
    throw new UserError("ALREADY_STARTED", `The job ${answer.id} is there: this start is no rehearsal.`, {
      hint: `The key may have started it before, or the platform knows no rehearsals. See 'platform status ${answer.id}'.`,
    });
  }
  output.print(`Valid    version ${cleanText(answer.version)}`);
  for (const line of describeRehearsal(answer)) output.print(line);
  output.print("Nothing was started.");
  return { json: answer, succeeded: true };
}

/** `platform run --batch --dry-run`: which items would be started, and what becomes of the last of them. Nothing is created. */
export async function rehearseBatch(
  context: CommandContext,
  client: PlatformClient,
  request: Parameters<PlatformClient["startJobBatch"]>[0],
) {
  const { output } = context;
  const answer = await client.startJobBatch({ ...request, prefer: DRY_RUN });
  if ("id" in answer)
    throw new UserError("ALREADY_STARTED", `The batch ${answer.id} is there: this start is no rehearsal.`, {
      hint: "The key may have started it before, or the platform knows no rehearsals of batches.",
    });
  printRefused(context, answer, "would not be started");
  output.print(`Valid    ${answer.total - answer.refused} of ${answer.total}`);
  const last = answer.items.findLast(({ rehearsal }) => rehearsal !== undefined);
  if (last?.rehearsal !== undefined) {
    output.print(`The last of them, item ${last.index + 1}:`);
    for (const line of describeRehearsal(last.rehearsal)) output.print(line);
  }
  output.print("Nothing was started.");
  return { json: answer, succeeded: answer.valid };
}

function describeRehearsal({
  waiting,
  runs,
  cost,
  resources,
  timeoutSeconds,
  startBy,
}: Rehearsal): readonly string[] {
  return [
    `Waiting  ${describeWaiting(waiting)}`,
    ...(startBy === undefined ? [] : [`Begins   by ${startBy}, or fails`]),
    ...(runs === undefined
      ? []
      : [`Runs     ${runs.typicalSeconds} s typically, ${runs.longSeconds} s at the long end`]),
    ...(cost === undefined ? [] : [describeCost(cost)]),
    `Needs    ${resources.cpu} vCPUs, ${resources.memory} GB, at most ${timeoutSeconds} s`,
  ];
}

function describeCost({ currency, typical, most }: NonNullable<Rehearsal["cost"]>): string {
  if (currency === null) return "Costs    nothing";
  const likely = typical === undefined ? "" : `${cleanText(typical)} ${cleanText(currency)} typically, `;
  return `Costs    ${likely}${cleanText(most)} ${cleanText(currency)} at most`;
}
