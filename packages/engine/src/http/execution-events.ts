import { formatTimestamp } from "@platform/contract/execution";
import type { ExecutionEvent } from "../executions/followers.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import { renderClosed, renderEvent } from "./event-stream.ts";
import { toStatusRecord } from "./presenters.ts";

/** An event of an execution as server-sent text. `renderState`: JSON text of its state as the API shows it. */
export function renderExecutionEvent(
  event: ExecutionEvent,
  renderState: (record: ExecutionRecord) => string,
): Uint8Array | string {
  switch (event.type) {
    case "state":
      return renderEvent("state", renderState(event.record));
    case "log":
      return Buffer.concat([
        Buffer.from(`id: ${event.position}\nevent: log\ndata: `),
        event.lines,
        Buffer.from("\n\n"),
      ]);
    case "progress":
      return renderEvent("progress", JSON.stringify(toStatusRecord(event.record).progress ?? {}));
    case "partial":
      return renderPartial(event);
    case "end":
      return renderEvent("end", "{}");
    case "closed":
      return renderClosed(event.problem);
    default:
      return event satisfies never;
  }
}

/** The checkpoint as it came of the run: without line breaks. */
function renderPartial({
  at,
  bytes,
  text,
}: Extract<ExecutionEvent, { readonly type: "partial" }>): Uint8Array {
  const head = `event: partial\ndata: {"at":"${formatTimestamp(at)}","bytes":${bytes}`;
  if (text === null) return Buffer.from(`${head}}\n\n`);
  return Buffer.concat([Buffer.from(`${head},"result":`), text, Buffer.from("}\n\n")]);
}
