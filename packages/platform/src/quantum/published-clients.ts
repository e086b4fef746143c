import type { IncomingHttpHeaders } from "node:http";
import { SECOND } from "@platform/engine/base/time";
import type { Executions } from "@platform/engine/executions/executions";
import { watchCaller } from "@platform/engine/http/caller-gone";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";

/** Headers that clients of such platforms send, and ours do not. */
const MARKS = ["x-fern-language", "x-cloud-trace-context", "x-planqk-service-execution-id"];
/** How long they are kept waiting for the end of a job. */
const HELD_MS = 2 * SECOND;

/** Whether a request comes from a client that was published for other platforms of this kind. */
function isPublishedClient(headers: IncomingHttpHeaders): boolean {
  return MARKS.some((name) => headers[name] !== undefined);
}

/**
 * As `waitAsPreferred`. Published clients, which cannot say so, prefer to wait for 2 s: they sleep for 5 s when they are told that a job has not
 * ended, and most jobs end sooner.
 */
export async function waitAsKnown(
  executions: Pick<Executions, "enterWait" | "state" | "wait">,
  asked: Parameters<typeof waitAsPreferred>[1],
): Promise<ExecutionRecord> {
  const { http, reply, id, owner } = asked;
  const isHeld = http.headers["prefer"] === undefined && isPublishedClient(http.headers);
  const leave = isHeld ? executions.enterWait(owner.organisationId) : null;
  if (leave === null) return await waitAsPreferred(executions, asked);
  return await executions.wait(id, owner.id, HELD_MS / SECOND, watchCaller(reply)).finally(leave);
}
