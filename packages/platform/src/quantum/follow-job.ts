import type { QUANTUM_JOB_PARTS_API } from "@platform/contract/quantum-api/job-parts";
import { Problem } from "@platform/contract/problems";
import type { Executions } from "@platform/engine/executions/executions";
import { mapEvents, readLastEventId } from "@platform/engine/http/event-stream";
import type { SentEvents } from "@platform/engine/http/event-stream";
import { renderExecutionEvent } from "@platform/engine/http/execution-events";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PlatformCaller } from "../api/caller.ts";
import { toQuantumJob } from "./job-view.ts";
import type { KnownFacts } from "./known-facts.ts";

/** Handler of the events of a job: those of its execution, whose state is shown as a job. */
export function createFollowJob(
  executions: Pick<Executions, "follow">,
  known: Pick<KnownFacts, "require">,
): Pick<OperationHandlers<typeof QUANTUM_JOB_PARTS_API, PlatformCaller>, "followQuantumJob"> {
  return {
    followQuantumJob: async ({ caller, params, http }) => {
      const position = readLastEventId(http);
      const { id, owner, facts } = await known.require(caller, params.id);
      const { events, stop } = executions.follow({
        id,
        owner,
        ...(position === undefined ? {} : { logPosition: position }),
      });
      const body: SentEvents<PlatformCaller> = {
        events: mapEvents(events, (event) =>
          renderExecutionEvent(event, (record) => JSON.stringify(toQuantumJob(record, facts))),
        ),
        stop,
        // That the caller is still a member is asked before this.
        requireStill: (still) => {
          if (still.organisationId !== caller.organisationId) throw new Problem("EXECUTION_NOT_FOUND");
        },
      };
      // The pipeline hands its own callers back.
      return { status: 200, body: body as SentEvents };
    },
  };
}
