import { MOST_CANCELLED } from "@platform/contract/limits";
import type {
  CancelledExecutions,
  EXECUTION_ACTIONS_API,
} from "@platform/contract/platform-api/execution-actions";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";
import { noteAudit, noteUnchanged } from "../store/audit/trail.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { PlatformCaller } from "./caller.ts";
import { readFilter, toAsker } from "./executions.ts";
import type { FairGate } from "../base/fair-gate.ts";

type Handlers = Pick<OperationHandlers<typeof EXECUTION_ACTIONS_API, PlatformCaller>, "cancelExecutions">;
type CancelRequest = Parameters<Handlers["cancelExecutions"]>[0];

/** How many more than were expected are cancelled as well: executions are started meanwhile. */
const TOLERANCE = 1.1;

/** What the handlers work with. */
interface ActionDeps {
  readonly history: HistoryStore;
  readonly searches: FairGate;
}

/** Handlers of what changes executions, whoever has started them. */
export function createExecutionActionHandlers(deps: ActionDeps): Handlers {
  const { history } = deps;
  return {
    cancelExecutions: async ({ caller, body }) => {
      const { ids, matched, changes } = await findWanted(deps, caller, body);
      // Written with the first of them.
      noteAudit({ changes });
      const cancelled = await history.cancel(toAsker(caller), ids);
      if (cancelled === 0) noteUnchanged();
      const answer: CancelledExecutions = { matched, cancelled, finishedMeanwhile: matched - cancelled };
      return { status: 200, body: answer };
    },
  };
}

/** What is to be cancelled, how many of these are the organisation's own, and what the audit log says of it. */
interface Wanted {
  readonly ids: readonly string[];
  readonly matched: number;
  readonly changes: readonly { readonly field: string; readonly before: null; readonly after: string }[];
}

/** @throws Problem INVALID_INPUT, CONFLICT */
async function findWanted(
  { history, searches }: ActionDeps,
  caller: PlatformCaller,
  { ids, filter, expected }: CancelRequest["body"],
): Promise<Wanted> {
  const asker = toAsker(caller);
  if (ids !== undefined) {
    if (filter !== undefined) throw refuse("/filter", "excludes `ids`.");
    if (expected !== undefined) throw refuse("/expected", "is for a `filter`.");
    const matched = await history.countOwn(asker, ids);
    return { ids, matched, changes: [note("matched", String(matched))] };
  }
  if (filter === undefined) throw refuse("", "Give `ids`, or `filter` and `expected`.");
  if (expected === undefined) throw refuse("/expected", "is missing: how many were seen to match.");
  if (filter.kind === "incoming")
    throw refuse("/filter/kind", "Only who has started executions can cancel them.");
  const wanted = readFilter(filter, "filter/");
  const found = await searches.admit(caller, () => history.findCancellable(asker, wanted));
  if (found === null)
    throw new Problem(
      "CONFLICT",
      `The filter matches more executions than one request cancels (${MOST_CANCELLED}) or looks at. Nothing was cancelled; narrow it.`,
    );
  if (found.length > expected * TOLERANCE)
    throw new Problem(
      "CONFLICT",
      `The filter matches ${found.length} executions that have not ended, and ${expected} were expected. Nothing was cancelled; look again.`,
    );
  const text = JSON.stringify(filter);
  return {
    ids: found,
    matched: found.length,
    changes: [note("filter", text), note("matched", String(found.length))],
  };
}

function note(field: string, after: string): Wanted["changes"][number] {
  return { field, before: null, after };
}

function refuse(path: string, message: string): Problem {
  return new Problem(
    "INVALID_INPUT",
    `The body is not as expected: ${path === "" ? "" : `\`${path.slice(1)}\` `}${message}`,
    {
      errors: [{ path, message }],
    },
  );
}
