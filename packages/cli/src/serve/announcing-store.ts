import { isFinal } from "@platform/contract/execution";
import type { ExecutionStore, StoreEvent } from "@platform/engine/store/execution-store";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";

const ID_SHOWN = 8;

/** Wraps a store so that the log lines and final states of executions are also printed on standard error. */
export function createAnnouncingStore(store: ExecutionStore, output: Output): ExecutionStore {
  store.subscribe((event) => announceFinalState(event, output));
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

function announceFinalState(event: StoreEvent, output: Output): void {
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

/** The last characters of a UUIDv7. The first ones are the time and do not differ between executions that start together. */
function shorten(id: string): string {
  return id.slice(-ID_SHOWN);
}
