import { resolve } from "node:path";
import type { Batch } from "@platform/contract/batch";
import { MAX_BATCH_ITEMS } from "@platform/contract/batch";
import { SECOND } from "@platform/engine/base/time";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createInterruption } from "../base/errors.ts";
import { readIfThere } from "../base/files.ts";
import { cleanText } from "../base/output.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";

/** What `run --batch` runs, and how long it waits. */
interface BatchOptions {
  readonly request: Parameters<PlatformClient["startJobBatch"]>[0];
  readonly isDetached: boolean;
  /** May be infinite. */
  readonly timeoutSeconds: number;
}

/** An item as far as its refusal goes. */
type RefusedItem = Pick<Batch["items"][number], "index" | "code" | "detail" | "retryAfterSeconds">;

const ASK_EVERY_MS = 1 * SECOND;
const BAR_CELLS = 20;
/** Refusals that are printed; the JSON has all. */
const MAX_SHOWN = 10;

/** Starts a job for each item and, unless it is detached, waits until all have ended. Fails when one was refused or did not succeed. */
export async function runBatch(
  context: CommandContext,
  client: PlatformClient,
  options: BatchOptions,
): Promise<CommandResult> {
  const { request, isDetached } = options;
  const started = await client.startJobBatch(request);
  printRefused(context, started, "was not started");
  const last = isDetached ? started : await follow(context, client, { started, ...options });
  const { output } = context;
  output.print(`Batch    ${last.id}`);
  output.print(`Jobs     ${last.total - last.refused} of ${last.total}`);
  for (const [status, count] of Object.entries(last.counts))
    if (count > 0) output.print(`  ${status.padEnd(10)} ${count}`);
  const items = output.isJson ? await readAll(context, client, last) : last.items;
  return { json: { ...last, items, nextCursor: null }, succeeded: last.refused === 0 && last.failed === 0 };
}

/**
 * One start body a line of the file, whose path is relative to the working directory; empty lines are none. The texts are sent unchanged, so that
 * numbers keep all their digits.
 *
 * @throws UserError INPUT_INVALID
 */
export async function readItems({ directory }: CommandContext, file: string): Promise<readonly string[]> {
  const text = await readIfThere(resolve(directory, file));
  if (text === null) throw new UserError("INPUT_INVALID", `The file '${file}' of --batch does not exist.`);
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const items = lines.filter(({ line }) => line !== "");
  if (items.length === 0 || items.length > MAX_BATCH_ITEMS)
    throw new UserError(
      "INPUT_INVALID",
      `The file '${file}' of --batch has ${items.length} lines; it must have 1 to ${MAX_BATCH_ITEMS}, each a JSON object such as {"data": {}}.`,
    );
  for (const { line, number } of items)
    if (!isJson(line)) throw new UserError("INPUT_INVALID", `Line ${number} of '${file}' is not JSON.`);
  return items.map(({ line }) => line);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param what has become of them, after their number */
export function printRefused(
  { output }: CommandContext,
  { items, refused }: Pick<Batch, "refused"> & { readonly items: readonly RefusedItem[] },
  what: string,
): void {
  const shown = items.filter(({ code }) => code !== undefined).slice(0, MAX_SHOWN);
  for (const { index, code = "", detail = "", retryAfterSeconds } of shown) {
    const again = retryAfterSeconds === undefined ? "" : ` (again in ${retryAfterSeconds} s)`;
    output.note(`Item ${index + 1} ${what}: ${cleanText(`${code}: ${detail}`)}${again}`);
  }
  if (refused > shown.length) output.note(`And ${refused - shown.length} more.`);
}

async function follow(
  { output, signal }: CommandContext,
  client: PlatformClient,
  { started, timeoutSeconds }: BatchOptions & { readonly started: Batch },
): Promise<Batch> {
  const { id } = started;
  const until = Date.now() + timeoutSeconds * SECOND;
  const progress = output.startProgress(`Batch ${id}`);
  let last = started;
  try {
    while (!last.terminal && !signal.aborted && Date.now() < until) {
      progress.detail(describeBar(last));
      await pause(ASK_EVERY_MS, signal);
      if (signal.aborted) break;
      last = await retryRead(
        () => client.getJobBatch({ params: { batchId: id }, query: { limit: 1 }, signal }),
        signal,
      );
    }
  } catch (error) {
    throw signal.aborted ? createInterruption(describeNextSteps(id)) : error;
  } finally {
    progress.stop();
  }
  if (last.terminal) return last;
  if (signal.aborted) throw createInterruption(describeNextSteps(id));
  throw new UserError("WAIT_TIMEOUT", `The batch ${id} has not ended after ${timeoutSeconds} s.`, {
    hint: describeNextSteps(id),
  });
}

function describeBar({ done, total, failed }: Batch): string {
  const cells = Math.round((done / total) * BAR_CELLS);
  const bar = `[${"#".repeat(cells)}${"-".repeat(BAR_CELLS - cells)}]`;
  return `${bar} ${done} of ${total}${failed === 0 ? "" : `, ${failed} failed`}`;
}

function describeNextSteps(id: string): string {
  return `Its jobs continue. Use 'platform cancel --batch ${id}' to cancel them.`;
}

/** All items as they are now. */
async function readAll(
  { signal }: CommandContext,
  client: PlatformClient,
  { id }: Batch,
): Promise<Batch["items"]> {
  const items: Batch["items"][number][] = [];
  for (let cursor: string | null = "0"; cursor !== null;) {
    const query: { readonly limit: number; readonly cursor: string } = { limit: 100, cursor };
    const page: Batch = await retryRead(() => client.getJobBatch({ params: { batchId: id }, query }), signal);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}
