import type { FastifyRequest } from "fastify";
import type { EXECUTION_ACTIONS_API } from "@platform/contract/platform-api/execution-actions";
import { PLATFORM_API_PREFIX } from "@platform/contract/platform-api/openapi";
import { Problem } from "@platform/contract/problems";
import type { Executions } from "@platform/engine/executions/executions";
import { prefersDryRun } from "@platform/engine/http/prefer";
import { hostedPresenter } from "@platform/engine/http/presenters";
import { readParameter } from "@platform/engine/http/query";
import { createExecutionHandlers } from "@platform/engine/http/service-api";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import type { OperationHandlers } from "@platform/engine/http/types";
import { toTarget } from "../access/grants.ts";
import type { ServiceCaller } from "../access/grants.ts";
import { addLimitHeaders } from "../metering/limits.ts";
import { createStartLimits } from "../metering/start-limits.ts";
import type { RateReserve } from "../metering/rate-reserve.ts";
import type { StartableSubscription } from "../store/subscription-start.ts";
import type { SubscriptionStore } from "../store/subscriptions.ts";
import type { PlatformCaller } from "./caller.ts";

/** What the handler works with. */
export interface StartDeps {
  readonly subscriptions: SubscriptionStore;
  readonly executions: Executions;
  readonly receipts: ReceiptIssuer;
  readonly reserve: RateReserve;
  /** Starts of one application in the long run. */
  readonly startsPerSecond: number;
  /** Told of each execution that was started. */
  readonly noteStart: (caller: PlatformCaller, request: FastifyRequest, serviceKey: string) => Promise<void>;
}

type Handlers = Pick<
  OperationHandlers<typeof EXECUTION_ACTIONS_API, PlatformCaller>,
  "startSubscriptionExecution"
>;

/** The application that a member starts as. */
interface Starter extends ServiceCaller {
  readonly serviceKey: string;
}

/** Starts executions for members as an application would: they belong to its subscription, and count for its limits. */
export function createStartHandler(deps: StartDeps): Handlers {
  const limits = createStartLimits({ reserve: deps.reserve, startsPerSecond: deps.startsPerSecond });
  const handlers = createExecutionHandlers<Starter>({
    executions: deps.executions,
    receipts: deps.receipts,
    presenter: hostedPresenter,
    ownerOf: ({ owner }) => owner,
    targetOf: toTarget,
    baseOf: () => `${PLATFORM_API_PREFIX}/executions`,
    uncountStart: limits.giveBack,
  });
  return {
    startSubscriptionExecution: async (request) => {
      const { caller, params, http, reply } = request;
      const { organisationId } = caller;
      const wanted = readParameter(http.query, "version");
      const found = await deps.subscriptions.findStartable({ organisationId, id: params.id }, wanted);
      if (found === null) throw new Problem("NOT_FOUND", "There is no such subscription.");
      const application = toStarter(found, organisationId);
      const isRehearsal = prefersDryRun(http);
      await addLimitHeaders(reply, isRehearsal ? limits.rehearse(found) : limits.count(found));
      const answer = await handlers.startExecution({ ...request, params: undefined, caller: application });
      if (!isRehearsal) await deps.noteStart(caller, http, found.serviceKey);
      return answer;
    },
  };
}

/** @throws Problem SERVICE_NOT_FOUND */
function toStarter(
  {
    id,
    applicationId,
    serviceName,
    isPaused,
    endReason,
    startsPerMinute,
    version,
    serviceKey,
  }: StartableSubscription,
  organisationId: string,
): Starter {
  if (version === null) throw new Problem("SERVICE_NOT_FOUND");
  const owner = { kind: "subscription", id, organisationId } as const;
  // Logs are not read here.
  return {
    owner,
    applicationId,
    serviceName,
    isPaused,
    endReason,
    areLogsShown: false,
    startsPerMinute,
    version,
    serviceKey,
  };
}
