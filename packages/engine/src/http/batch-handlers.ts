import type { FastifyRequest } from "fastify";
import { MAX_BATCH_ITEMS } from "@platform/contract/batch";
import { Problem } from "@platform/contract/problems";
import { DRY_RUN } from "@platform/contract/rehearsal";
import type { SERVICE_API } from "@platform/contract/service-api";
import { isUuid } from "../base/uuid.ts";
import { readTraceContext } from "../base/trace-context.ts";
import { toBatch } from "../executions/batch-view.ts";
import type { GrantedStarts } from "../executions/start-items.ts";
import { describeBatchKey } from "./idempotency-key.ts";
import { linkNext, parsePage } from "./paging.ts";
import { prefersDryRun } from "./prefer.ts";
import { toBatchRehearsalAnswer } from "./present-rehearsal.ts";
import { REPLAYED } from "./start-execution.ts";
import type { StartOptions } from "./start-execution.ts";
import type { OperationHandlers, OperationReply } from "./types.ts";

type BatchHandlers<C> = Pick<
  OperationHandlers<typeof SERVICE_API, C>,
  "startBatch" | "getBatch" | "cancelBatch"
>;

const ALL_ITEMS = { offset: 0, limit: MAX_BATCH_ITEMS } as const;
const ASK_AGAIN = { "retry-after": "1" } as const;

/** The operations on batches: the same code behind the gateway, the jobs of the platform API, and the local server. */
export function createBatchHandlers<C>(options: StartOptions<C>): BatchHandlers<C> {
  const { ownerOf, baseOf } = options;
  const { batches } = options.executions;
  return {
    startBatch: createStartHandler(options),
    getBatch: async ({ http, caller, params, query }) => {
      const page = parsePage(query, MAX_BATCH_ITEMS);
      const batch = toBatch(await batches.progress(readId(params), ownerOf(caller).id), page);
      const headers = {
        ...linkNext(http, `${baseOf(http)}/batch/${batch.id}`, batch.nextCursor),
        ...(batch.terminal ? {} : ASK_AGAIN),
      };
      return { status: 200, headers, body: JSON.stringify(batch) };
    },
    cancelBatch: async ({ caller, params }) => {
      const view = await batches.cancel(readId(params), ownerOf(caller).id);
      return { status: 200, body: JSON.stringify(toBatch(view, parsePage({}, MAX_BATCH_ITEMS))) };
    },
  };
}

function createStartHandler<C>(options: StartOptions<C>): BatchHandlers<C>["startBatch"] {
  const { executions, ownerOf, targetOf, baseOf, uncountStart } = options;
  return async ({ http, caller, body }) => {
    if (prefersDryRun(http)) return await rehearse(options, { http, caller, body });
    let isCounted = false;
    const view = await executions.batches.start(ownerOf(caller), {
      body,
      key: describeBatchKey(http, body),
      trace: readTraceContext(http.headers),
      findTarget: () => targetOf(caller, http),
      countStarts: async (count) => {
        isCounted = count > 0;
        return await grantAll(options.countStarts, { caller, http, count });
      },
    });
    if (!isCounted) uncountStart?.(caller, http);
    const headers = {
      ...(view.isRepeated ? { [REPLAYED]: "true" } : {}),
      location: `${baseOf(http)}/batch/${view.batch.id}`,
    };
    return { status: 201, headers, body: JSON.stringify(toBatch(view, ALL_ITEMS)) };
  };
}

/** What the start would be answered, but nothing is created: what its key has started before is there already. */
async function rehearse<C>(
  options: StartOptions<C>,
  { http, caller, body }: { readonly http: FastifyRequest; readonly caller: C; readonly body: Uint8Array },
): Promise<OperationReply<(typeof SERVICE_API)["startBatch"]>> {
  const { executions, ownerOf, targetOf, baseOf, rehearseStarts } = options;
  const owner = ownerOf(caller);
  const key = describeBatchKey(http, body);
  const applied = { "preference-applied": DRY_RUN };
  const known = key === undefined ? null : await executions.batches.findStarted(owner.id, key);
  if (known !== null) {
    const headers = { ...applied, [REPLAYED]: "true", location: `${baseOf(http)}/batch/${known.batch.id}` };
    return { status: 201, headers, body: JSON.stringify(toBatch(known, ALL_ITEMS)) };
  }
  const found = await executions.rehearseBatch(owner, {
    body,
    target: await targetOf(caller, http),
    grantStarts: async (count) => await grantAll(rehearseStarts, { caller, http, count }),
  });
  return { status: 200, headers: applied, body: JSON.stringify(toBatchRehearsalAnswer(found)) };
}

/** The request itself was counted before it was read. */
async function grantAll<C>(
  grant: StartOptions<C>["countStarts"],
  { caller, http, count }: { readonly caller: C; readonly http: FastifyRequest; readonly count: number },
): Promise<GrantedStarts> {
  if (grant === undefined || count === 0) return { granted: count, refusal: null };
  const { granted, refusal } = await grant(caller, http, count - 1);
  return { granted: granted + 1, refusal };
}

/** @throws Problem NOT_FOUND for what no batch is called */
function readId({ batchId }: { readonly batchId: string }): string {
  if (!isUuid(batchId)) throw new Problem("NOT_FOUND", "There is no such batch.");
  return batchId.toLowerCase();
}
