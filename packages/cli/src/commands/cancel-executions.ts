import { MOST_CANCELLED } from "@platform/contract/limits";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { openSession } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { FILTER_OPTIONS, readFilter } from "./execution-filter.ts";
import type { ExecutionQuery } from "./execution-filter.ts";

/** What can be cancelled. */
const UNENDED = ["PENDING", "RUNNING"] as const;
const OWN_KINDS = ["job", "outgoing"] as const;

/** `platform executions cancel`: by ids, or all that the options want, whose number is asked for first. */
export const cancelExecutionsCommand = defineCommand({
  name: "executions cancel",
  summary: "Cancel executions by their ids, or all that the options describe",
  description: [
    "Jobs, and what applications of the organisation have started. What waits ends at once, what runs within seconds.",
    "With options instead of ids, the number of executions is shown and confirmed first; without a terminal, pass it as --expect. Nothing is cancelled if there are over a tenth more by then.",
  ],
  arguments: { ids: { description: "Ids of executions", required: false, isList: true } },
  options: {
    ...FILTER_OPTIONS,
    expect: {
      kind: "number",
      placeholder: "number",
      minimum: 0,
      maximum: MOST_CANCELLED,
      isInteger: true,
      description: "How many executions the options describe; it is not asked for then",
    },
  },
  examples: [
    { command: "platform executions cancel 0198c1de-7a53-7000-8000-000000000000", comment: "One of them" },
    { command: "platform executions cancel --status PENDING --service tsp", comment: "What waits for tsp" },
  ],
  run: async (context, { arguments: { ids }, options: { expect, ...values } }) => {
    const hasFilter = Object.values(values).some((value) => value !== undefined);
    if (ids.length > 0 && (hasFilter || expect !== undefined))
      throw createUsageError("Pass ids, or options that describe executions, not both.");
    if (ids.length === 0 && !hasFilter)
      throw createUsageError(
        "Which executions?",
        "Pass their ids, or options such as --status PENDING; see 'platform executions cancel --help'.",
      );
    const { client } = await openSession(context);
    const body =
      ids.length > 0
        ? { ids: [...ids] }
        : await describeFilter(context, client, await readFilter(context, client, values), expect);
    if (body === null) {
      context.output.print("Nothing was cancelled.");
      return { json: { matched: 0, cancelled: 0, finishedMeanwhile: 0 }, succeeded: true };
    }
    const answer = await client.cancelExecutions({ body });
    context.output.print(`${answer.cancelled} cancelled${describeRest(answer.finishedMeanwhile)}.`);
    if (answer.matched < ids.length)
      context.output.warn(
        `${ids.length - answer.matched} of the ids are of no execution that you can cancel.`,
      );
    return { json: answer, succeeded: answer.matched >= ids.length };
  },
});

function describeRest(finishedMeanwhile: number): string {
  return finishedMeanwhile === 0 ? "" : `; ${finishedMeanwhile} had ended before`;
}

/** Null: there is nothing to cancel, or whoever was asked does not want to. */
async function describeFilter(
  { prompts }: CommandContext,
  client: PlatformClient,
  filter: ExecutionQuery,
  expect: number | undefined,
) {
  if (expect !== undefined) return { filter, expected: expect };
  const expected = await countUnended(client, filter);
  if (expected === 0) return null;
  if (prompts === null)
    throw createUsageError(
      `The options describe ${expected} executions that have not ended.`,
      `To cancel them, pass --expect ${expected}.`,
    );
  const choices = [
    { value: "no", label: "No" },
    { value: "yes", label: `Yes, cancel ${expected}` },
  ];
  const answer = await prompts.choose(`Cancel ${expected} executions?`, choices, "no");
  return answer === "yes" ? { filter, expected } : null;
}

async function countUnended(client: PlatformClient, filter: ExecutionQuery): Promise<number> {
  const { kind, status = UNENDED } = filter;
  const wanted = UNENDED.filter((one) => status.includes(one));
  if (wanted.length === 0) return 0;
  let total = 0;
  for (const one of kind === undefined ? OWN_KINDS : [kind]) {
    const counts = await client.countExecutions({ query: { ...filter, kind: one, status: [...wanted] } });
    total += counts.total;
  }
  return total;
}
