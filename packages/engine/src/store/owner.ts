/**
 * Whose an execution is. A subscription's executions were started by the application that holds it; an organisation's own
 * are jobs. Ids are UUIDs on a platform; the local server has one owner whose ids are not.
 */
export interface Owner {
  readonly kind: "subscription" | "organisation";
  /** Of the subscription or the organisation. Every read names it, and what is another's does not exist. */
  readonly id: string;
  /** The organisation that may be billed for it: for a subscription, the one that its application belongs to. */
  readonly organisationId: string;
}

/** The owner of an organisation's jobs. */
export function toJobOwner(organisationId: string): Owner {
  return { kind: "organisation", id: organisationId, organisationId };
}
