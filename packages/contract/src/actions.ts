/**
 * What may be done to the resources of an organisation: `read` them; `run` services; `deploy` services and versions; `edit`
 * applications, keys, subscriptions and settings; `administer` the organisation, which includes deleting for good.
 */
export const ACTIONS = ["read", "run", "deploy", "edit", "administer"] as const;
/** See `ACTIONS`. */
export type Action = (typeof ACTIONS)[number];
