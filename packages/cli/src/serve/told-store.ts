import { isFinal } from "@platform/contract/execution";
import type { ExecutionStore, StoreEvent } from "@platform/engine/store/execution-store";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";

const ID_SHOWN = 8;

/** The same store, telling on standard error what executions print and how they end. */
export function createToldStore(store: ExecutionStore, output: Output): ExecutionStore {
  store.subscribe((event) => tellChange(event, output));
  return {
    ...store,
    appendLog: async (claim, lines) => {
      for (const line of lines) {
        output.note(`${output.paintNote("dim", shorten(claim.id))} ${cleanText(line.message)}`);
      }
      await store.appendLog(claim, lines);
    },
  };
}

function tellChange(event: StoreEvent, output: Output): void {
  if (event.type !== "changed" || event.record === undefined) return;
  const { id, status, failure, startedAt, endedAt } = event.record;
  if (!isFinal(status)) return;
  const took = startedAt === null || endedAt === null ? "" : ` after ${endedAt - startedAt} ms`;
  const cause = failure === null ? "" : `: ${failure.code}: ${failure.detail}`;
  const style = status === "SUCCEEDED" ? "green" : "red";
  output.note(
    `${output.paintNote("dim", shorten(id))} ${output.paintNote(style, status)}${took}${cleanText(cause)}`,
  );
}

/** The end of a UUIDv7: its beginning is the time, the same for many. */
function shorten(id: string): string {
  return id.slice(-ID_SHOWN);
}
