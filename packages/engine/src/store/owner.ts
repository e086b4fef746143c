/**
 * The owner of an execution. The executions of a subscription were started by the application that holds it; those of an organisation
 * are jobs. Ids are UUIDs on a platform; the local server has one owner, whose ids are not.
 */
export interface Owner {
  readonly kind: "subscription" | "organisation";
  /** Id of the subscription or the organisation. Every read names it; executions of other owners are treated as missing. */
  readonly id: string;
  /** The organisation that is billed: for a subscription, the one that its application belongs to. */
  readonly organisationId: string;
  /** Of a job that is being started: who does it, and whether they may change what the organisation has. Missing: it is not known. */
  readonly startedBy?: { readonly userId: string; readonly mayEdit: boolean };
}

/** The owner of an organisation's jobs. */
export function toJobOwner(organisationId: string, startedBy?: Owner["startedBy"]): Owner {
  return {
    kind: "organisation",
    id: organisationId,
    organisationId,
    ...(startedBy === undefined ? {} : { startedBy }),
  };
}
