/*
 * The NOTIFY channels of the platform, with the format of their payloads. A notification makes a reader faster, never
 * correct: it may be lost, so every reader also polls, or forgets what it has cached after a time.
 */

/**
 * Executions that can be claimed, are held, have changed or are to be cancelled. Payload: `origin:kind:ids`
 * (`store/executions/events.ts`).
 */
export const EXECUTIONS_CHANNEL = "executions";

/**
 * Changes of who may call what: an application was deleted, an access key revoked, a subscription made, changed or cancelled, a
 * version published or retired, a service changed, a signing key retired. Payload: `application:<id>` or `service:<key>`; anything else (`signing-keys`)
 * stands for any change.
 */
export const ACCESS_CHANNEL = "access_changed";

/**
 * Changes of what a user may do: a token or session was revoked, the password changed, a membership made or changed, an
 * organisation renamed or deleted. Payload: `user:<id>` or `organisation:<id>`.
 */
export const ACCOUNTS_CHANNEL = "accounts_changed";

/** Builds that can be claimed. The payload is empty. */
export const BUILDS_CHANNEL = "build_pending";

/** Variables of services and organisations, secrets among them, were set or deleted. The payload is empty. */
export const VARIABLES_CHANNEL = "variables_changed";

/** Schedules were made or changed, so that something may be due earlier. The payload is empty. */
export const SCHEDULES_CHANNEL = "schedules_changed";
