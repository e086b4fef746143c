import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { DRY_RUN } from "@platform/contract/rehearsal";
import type { SERVICE_API } from "@platform/contract/service-api";
import type { GrantedStarts } from "../executions/start-items.ts";
import type { Executions } from "../executions/executions.ts";
import type { Rehearsal } from "../executions/rehearse.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";
import type { Owner } from "../store/owner.ts";
import { describeQuota } from "../store/quota.ts";
import { readTraceContext } from "../base/trace-context.ts";
import { describeKey } from "./idempotency-key.ts";
import { prefersDryRun } from "./prefer.ts";
import { toRehearsalAnswer } from "./present-rehearsal.ts";
import type { OperationReply, OperationRequest } from "./types.ts";

/** Says that an earlier request with the same key has created what the answer describes. */
export const REPLAYED = "idempotency-replayed";

/** What the start needs of the handlers' options. */
export interface StartOptions<C> {
  readonly executions: Executions;
  /** The owner of the executions that a caller starts and sees. */
  readonly ownerOf: (caller: C) => Owner;
  /** The version to start. @throws Problem when it accepts no executions */
  readonly targetOf: (caller: C, request: FastifyRequest) => VersionTarget | Promise<VersionTarget>;
  /** The base path as the caller sees it, without a final slash. */
  readonly baseOf: (request: FastifyRequest) => string;
  /** Takes back that a request was counted as a start, since it was none. Missing: starts are not counted. */
  readonly uncountStart?: (caller: C, request: FastifyRequest) => void;
  /** How many further starts of a request would be granted that was counted as one rehearsal, which is counted. Missing: starts are not counted. */
  readonly rehearseStarts?: (caller: C, request: FastifyRequest, count: number) => Promise<GrantedStarts>;
  /** Counts the further starts of a request that was counted as one. Missing: starts are not counted. */
  readonly countStarts?: (caller: C, request: FastifyRequest, count: number) => Promise<GrantedStarts>;
}

/** The state of what was started, as late as the caller prefers, and its body. */
interface Shown<C> {
  readonly waitFor: (request: StartCall<C>, record: ExecutionRecord) => Promise<ExecutionRecord>;
  readonly render: (record: ExecutionRecord) => { readonly body: string };
}

type StartCall<C> = OperationRequest<(typeof SERVICE_API)["startExecution"], C>;

/** The handler of a start: with an idempotency key it creates one execution, however often it is repeated. */
export function createStartHandler<C>(options: StartOptions<C>, { waitFor, render }: Shown<C>) {
  const { executions, ownerOf, baseOf, uncountStart } = options;
  return async (request: StartCall<C>): Promise<OperationReply<(typeof SERVICE_API)["startExecution"]>> => {
    const { http, caller, body } = request;
    const key = describeKey(http, body);
    if (prefersDryRun(http)) return rehearse(options, render, { request, key });
    const start = async () => {
      const target = await options.targetOf(caller, http);
      return executions.start(ownerOf(caller), target, { body, key, trace: readTraceContext(http.headers) });
    };
    const created = await (key === undefined
      ? start()
      : startOnce(start, options, { ownerId: ownerOf(caller).id, key }));
    const isRepeated = created.isRepeated === true;
    if (isRepeated) uncountStart?.(caller, http);
    const record = await waitFor(request, created);
    const headers = {
      ...(created.quota === undefined ? {} : describeQuota(created.quota)),
      ...(isRepeated ? { [REPLAYED]: "true" } : {}),
      location: `${baseOf(http)}/${record.id}`,
    };
    return { status: 201, headers, body: render(record).body };
  };
}

/** What the start would be answered, but nothing is created: what its key has started before is there already. */
async function rehearse<C>(
  options: StartOptions<C>,
  render: Shown<C>["render"],
  { request, key }: { readonly request: StartCall<C>; readonly key: IdempotencyKey | undefined },
): Promise<OperationReply<(typeof SERVICE_API)["startExecution"]>> {
  const { executions, ownerOf, baseOf } = options;
  const { http, caller, body } = request;
  const owner = ownerOf(caller);
  const tryStart = async (): Promise<Rehearsal | ExecutionRecord> => {
    const found = await executions.rehearse(owner, await options.targetOf(caller, http), body);
    return (key && (await executions.findStarted(owner.id, key))) ?? found;
  };
  const found = await (key === undefined
    ? tryStart()
    : startOnce(tryStart, options, { ownerId: owner.id, key }));
  const applied = { "preference-applied": DRY_RUN };
  if ("target" in found) {
    const headers = { ...applied, ...(found.quota === undefined ? {} : describeQuota(found.quota)) };
    return { status: 200, headers, body: JSON.stringify(toRehearsalAnswer(found)) };
  }
  const headers = { ...applied, [REPLAYED]: "true", location: `${baseOf(http)}/${found.id}` };
  return { status: 201, headers, body: render(found).body };
}

/** What was started before is answered also where it would be refused by now: the version is retired, a limit is reached, a file is gone. */
export async function startOnce<T>(
  start: () => Promise<T>,
  { executions }: { readonly executions: Pick<Executions, "findStarted"> },
  { ownerId, key }: { readonly ownerId: string; readonly key: IdempotencyKey },
): Promise<T | ExecutionRecord> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof Problem) || error.code === "IDEMPOTENCY_CONFLICT") throw error;
    // Where that is not to be had, or is another request, the refusal says more.
    const known = await executions.findStarted(ownerId, key).catch(() => null);
    if (known === null) throw error;
    return known;
  }
}
