import type { EVENTS_API } from "@platform/contract/platform-api/events";
import type { OperationHandlers } from "@platform/engine/http/types";
import { createFeedHandler } from "../feed/answer-feed.ts";
import type { FeedAnswers } from "../feed/answer-feed.ts";
import type { PlatformCaller } from "./caller.ts";

/** Handler of the organisation's feed. */
export function createEventHandlers(
  feeds: FeedAnswers,
): OperationHandlers<typeof EVENTS_API, PlatformCaller> {
  return {
    listEvents: createFeedHandler<PlatformCaller>(feeds, ({ organisationId }) => ({
      reader: { kind: "organisation", id: organisationId },
      organisationId,
    })),
  };
}
