import type { Executions } from "../executions/executions.ts";
import type { LogPage } from "../store/execution-store.ts";

interface LogQuery {
  readonly executions: Pick<Executions, "log">;
  readonly id: string;
  readonly ownerId: string;
}

/**
 * Streams the log of a finished execution as one answer: published clients read only one, and the traceback is at the end of a log. One page is
 * in memory at a time; the next one is read once the caller has taken it.
 */
export async function* readWholeLog(query: LogQuery, first: LogPage): AsyncGenerator<Uint8Array> {
  yield Buffer.from("[");
  let isEmpty = true;
  for (let page: LogPage | null = first; page !== null; page = await readNextPage(query, page)) {
    const lines = page.lines.subarray(1, -1);
    if (lines.length === 0) continue;
    yield isEmpty ? lines : Buffer.concat([Buffer.from(","), lines]);
    isEmpty = false;
  }
  yield Buffer.from("]");
}

async function readNextPage(
  { executions, id, ownerId }: LogQuery,
  { nextCursor }: LogPage,
): Promise<LogPage | null> {
  return nextCursor === null ? null : executions.log(id, ownerId, nextCursor);
}
