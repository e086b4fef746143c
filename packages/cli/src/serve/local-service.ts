import { toJobOwner } from "@platform/engine/store/owner";

/**
 * All that a local server runs is of one service, which is none of a platform: its key stands in events and messages, and limits are counted by
 * it.
 */
export const LOCAL_SERVICE = {
  key: "00000000-0000-0000-0000-000000000000",
  organisationId: "local",
} as const;
/** The version in events and messages: each edit makes another. */
export const LOCAL_VERSION = "local";
/** Owner of all executions: there is only one developer. */
export const LOCAL_JOB_OWNER = toJobOwner(LOCAL_SERVICE.organisationId);
