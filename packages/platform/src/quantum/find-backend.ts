import { Problem } from "@platform/contract/problems";
import type { PlatformCaller } from "../api/caller.ts";
import type { BackendRecord } from "../store/backends.ts";
import { asNamed } from "./aliases.ts";
import { requireBackend } from "./backend-handlers.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import type { ReadRequest } from "./job-request.ts";
import { executionOf } from "./service-caller.ts";

/** The backend as it is, or as a session has pinned it. @throws Problem BACKEND_NOT_FOUND, INVALID_INPUT, CONFLICT, VERSION_RETIRED */
export async function findBackend(
  { backends, quantumSessions }: Pick<QuantumJobDeps, "backends" | "quantumSessions">,
  caller: PlatformCaller,
  { backend_id: id, session_id: sessionId = null }: ReadRequest,
): Promise<BackendRecord> {
  const { organisationId } = caller;
  if (sessionId === null) return await requireBackend(backends, organisationId, id);
  const pinned = await quantumSessions.findBackend({ organisationId, id: sessionId.toLowerCase() });
  const own = executionOf(caller);
  // An execution has the sessions that it has opened.
  if (pinned === null || (own !== null && pinned.serviceExecutionId !== own))
    throw refuseSession("There is no such session.");
  if (pinned.id !== id)
    throw refuseSession(`The session is of the backend ${pinned.id}, not ${id.slice(0, 100)}.`);
  if (pinned.isOver) throw new Problem("CONFLICT", "The session is closed, or its time is over.");
  if (!pinned.acceptsJobs) throw new Problem("CONFLICT", "The session takes no more jobs.");
  if (pinned.version.isRetired)
    throw new Problem("VERSION_RETIRED", "The version that the session has pinned was retired.");
  return asNamed(pinned);
}

function refuseSession(message: string): Problem {
  return new Problem("INVALID_INPUT", message, { errors: [{ path: "/session_id", message }] });
}
