import type { ExecutionStatus } from "@platform/contract/execution";
import { formatTimestamp } from "@platform/contract/execution";
import type { WebhookEvent } from "@platform/contract/platform-api/webhooks";

/** A change of an execution of which a webhook is told, as the feed has it. */
export interface Change {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  /** Why it did not succeed; null: no reason is known, or none is needed. */
  readonly code: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly serviceKey: string;
  /** MAJOR.MINOR.PATCH */
  readonly version: string;
  /** Null: a job. */
  readonly subscriptionId: string | null;
}

/** What a change is sent as. */
export interface Message {
  readonly event: string;
  readonly body: string;
}

/** The event of a status. */
function nameEvent(status: ExecutionStatus): WebhookEvent {
  return `execution.${status.toLowerCase() as Lowercase<ExecutionStatus>}`;
}

/** A message in the form of Standard Webhooks: it names the execution, and has nothing of its input or result. */
export function describeChange({ at, ...change }: Change): Message {
  const event = nameEvent(change.status);
  return { event, body: describe(event, at, change) };
}

/** The body of a test message. */
export function describeTest(at: number): string {
  return describe("test", at, {});
}

function describe(type: string, at: number, data: object): string {
  return JSON.stringify({
    type,
    timestamp: new Date(at).toISOString(),
    data: { ...data, at: formatTimestamp(at) },
  });
}
