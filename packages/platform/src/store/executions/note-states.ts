/**
 * A CTE that writes down for the feed that the rows of `source` have changed their state, in the transaction of the change. `source` has the
 * columns of `execution` that are named here; `condition`: which of its rows have.
 */
export function noteStates(source: string, condition?: string): string {
  return `noted as (
    insert into feed_new (execution_id, owner_kind, owner_id, organisation_id, version_id, status, code)
    select id, owner_kind, owner_id, organisation_id, version_id, status, failure_code
    from ${source}${condition === undefined ? "" : ` where ${condition}`}
  )`;
}

/** The columns that `noteStates` reads. */
export const NOTED_COLUMNS = "id, owner_kind, owner_id, organisation_id, version_id, status, failure_code";
