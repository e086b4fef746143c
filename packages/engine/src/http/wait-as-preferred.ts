import type { FastifyReply, FastifyRequest } from "fastify";
import type { Executions } from "../executions/executions.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import { watchCaller } from "./caller-gone.ts";
import { readWait } from "./prefer.ts";

/** One execution, and the request that names it. */
interface Asked {
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
  readonly id: string;
  readonly owner: Owner;
}

/**
 * The current state, or the final one when the caller prefers to wait (`Prefer: wait`). Where too many wait already, the preference is not
 * applied (RFC 7240): the answer comes at once, as to a caller who polls.
 *
 * @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED
 */
export async function waitAsPreferred(
  executions: Pick<Executions, "enterWait" | "state" | "wait">,
  { http, reply, id, owner }: Asked,
): Promise<ExecutionRecord> {
  const seconds = readWait(http);
  const leave = seconds === 0 ? null : executions.enterWait(owner.organisationId);
  if (leave === null) return await executions.state(id, owner.id);
  const gone = watchCaller(reply);
  // Set here and not with the answer, so that a refusal after the wait has it as well.
  reply.header("preference-applied", `wait=${seconds}`);
  return await executions.wait(id, owner.id, seconds, gone).finally(leave);
}
