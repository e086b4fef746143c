import { FEED } from "../feed.ts";
import type { OperationTable } from "../operation.ts";

/** The feed of an organisation. */
export const EVENTS_API = {
  listEvents: {
    ...FEED,
    allows: "read",
    scope: "organisation",
    summary: "Read the changes of state of executions of the organisation",
  },
} as const satisfies OperationTable;
