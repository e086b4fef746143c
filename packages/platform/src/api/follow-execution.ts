import type { EXECUTION_OVERVIEW_API } from "@platform/contract/platform-api/execution-overview";
import { Problem } from "@platform/contract/problems";
import type { Executions } from "@platform/engine/executions/executions";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import { hostedPresenter } from "@platform/engine/http/presenters";
import { createExecutionHandlers } from "@platform/engine/http/service-api";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { HistoryDetails } from "../store/history/find.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { PlatformCaller } from "./caller.ts";
import { EXECUTIONS_PATH, requireFound, requireLog } from "./executions.ts";

/** What the handler works with. */
interface FollowDeps {
  readonly history: HistoryStore;
  readonly executions: Executions;
  readonly receipts: ReceiptIssuer;
}

/** One that was found, and whose streams it counts among. */
interface Followed {
  readonly found: HistoryDetails;
  readonly organisationId: string;
}

/** Handler of the events of one execution: those of the service API, for whom it belongs to. */
export function createFollowHandler({
  history,
  executions,
  receipts,
}: FollowDeps): Pick<OperationHandlers<typeof EXECUTION_OVERVIEW_API, PlatformCaller>, "followExecution"> {
  const { streamEvents } = createExecutionHandlers<Followed>({
    executions,
    receipts,
    presenter: hostedPresenter,
    ownerOf: ({ found: { ownerId, subscriptionId }, organisationId }) => ({
      kind: subscriptionId === null ? "organisation" : "subscription",
      id: ownerId,
      organisationId,
    }),
    targetOf: () => {
      throw new Error("Executions are not started here.");
    },
    baseOf: () => EXECUTIONS_PATH,
    requireLogs: ({ found }) => requireLog(found),
  });
  return {
    followExecution: async (request) => {
      const { caller, params } = request;
      const found = await requireFound(history, caller, params.id);
      if (found.kind === "incoming") throw new Problem("NOT_SHARED");
      const answer = await streamEvents({
        ...request,
        caller: { found, organisationId: caller.organisationId },
      });
      // Who may read it was asked of the store; that the caller is still a member is asked before this.
      const requireStill = (known: PlatformCaller) => {
        if (known.organisationId !== caller.organisationId) throw new Problem("EXECUTION_NOT_FOUND");
      };
      return { ...answer, body: { ...answer.body, requireStill } } as typeof answer;
    },
  };
}
