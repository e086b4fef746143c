import { AsyncLocalStorage } from "node:async_hooks";
import { Problem } from "@platform/contract/problems";
import type { Database, RunStatement, Statement } from "../../postgres/database.ts";

/*
 * How the entry of the audit log comes into the transaction of its change. The request's handler runs inside a trail
 * (`openTrail`), which holds the entry. A statement names the operations whose change it is (`Statement.audited`); where one of them
 * is the request's, the entry is appended before the commit. An entry that no statement took is written before the answer.
 */

/** A value that was changed; null: there was, or is, none. Never a secret. */
export interface AuditChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** An entry to be written. */
export interface NewAuditEntry {
  /** Null: the actor's own organisation. */
  readonly organisationId: string | null;
  /** `claimed`: somebody who said to be this user, and did not prove it. `operator`: a user as one who runs the platform. */
  readonly actorKind: "user" | "claimed" | "application" | "operator";
  /** Id of the user or application; null: nobody is known. */
  readonly actorId: string | null;
  /** `token:<id>` or `session:<id>`; null: none was shown. */
  readonly credential: string | null;
  /** Name of the operation in the audit log. */
  readonly action: string;
  /** Ids of the resource, the outer ones first. */
  readonly target: readonly string[];
  readonly outcome: "done" | "refused";
  /** Code of the problem of a refusal. */
  readonly code: string | null;
  /** Address of the client; empty: an execution did it. */
  readonly ip: string;
  readonly changes: readonly AuditChange[];
  /** Id of another organisation whose resource it is, where one's own is used there: the entry stands in the logs of both. */
  readonly alsoIn?: string;
}

/** What only the handler knows of its entry. */
export type AuditNote = Partial<
  Pick<NewAuditEntry, "organisationId" | "actorId" | "target" | "changes" | "alsoIn">
>;

/** The entry of one request, while the request is handled. */
export interface Trail {
  /** As far as it is known; null: it is written, or there is nothing to write. */
  readonly pending: () => NewAuditEntry | null;
  /** Runs the handler. */
  readonly run: <T>(handle: () => T) => T;
}

interface State {
  entry: NewAuditEntry;
  progress: "open" | "written" | "unchanged";
}

const TRAILS = new AsyncLocalStorage<State>();

/** Begins the trail of a request. */
export function openTrail(entry: NewAuditEntry): Trail {
  const state: State = { entry, progress: "open" };
  return {
    pending: () => (state.progress === "open" ? state.entry : null),
    run: (handle) => TRAILS.run(state, handle),
  };
}

/** Adds to the entry of the request that is being handled; does nothing outside of one. `target` replaces the ids of the path. */
export function noteAudit(note: AuditNote): void {
  const state = TRAILS.getStore();
  if (state !== undefined) state.entry = { ...state.entry, ...note };
}

/** Says that the request that is being handled changes nothing: it leaves no entry. */
export function noteUnchanged(): void {
  const state = TRAILS.getStore();
  if (state?.progress === "open") state.progress = "unchanged";
}

/** The database, writing the pending entry together with the change that it is about. */
export function auditChanges(database: Database): Database {
  return {
    ...database,
    query: <Row extends object>(statement: Statement) => {
      const state = findOpenTrail(statement);
      if (state === null) return database.query<Row>(statement);
      return commitWithEntry(database, state, (run) => run<Row>(statement));
    },
    transaction: (work) => {
      const state = TRAILS.getStore();
      if (state?.progress !== "open") return database.transaction(work);
      return commitWithEntry(database, state, work);
    },
  };
}

async function commitWithEntry<T>(
  database: Database,
  state: State,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  let isAppended = false;
  const result = await database.transaction(async (run) => {
    let change: object | undefined;
    const value = await work(async <Row extends object>(statement: Statement) => {
      const rows = await run<Row>(statement);
      if (findOpenTrail(statement) === state) change ??= rows[0];
      return rows;
    });
    isAppended = change !== undefined;
    if (change !== undefined) await requireCredential(run, state.entry.credential);
    // Last, so that the lock on the chain is held shortly, and nothing else is waited for while it is held.
    if (change !== undefined) await appendEntry(run, completeEntry(state.entry, change));
    return value;
  });
  if (isAppended) state.progress = "written";
  return result;
}

const HOLD = {
  session:
    "select 1 from session where id = $1 and (revoked_at is null or xmin = pg_current_xact_id()::xid) for share",
  token:
    "select 1 from personal_access_token where id = $1 and (revoked_at is null or xmin = pg_current_xact_id()::xid) for share",
} as const;

/**
 * A change commits before what it was made with is revoked, or not at all: otherwise who revokes something could miss what was being
 * made with it. What the change itself has revoked counts as there.
 *
 * @throws Problem UNAUTHENTICATED
 */
async function requireCredential(run: RunStatement, credential: string | null): Promise<void> {
  const [kind, id] = credential?.split(":") ?? [];
  if (kind !== "session" && kind !== "token") return;
  const held = await run({ name: `audit-hold-${kind}`, text: HOLD[kind], values: [id] });
  if (held.length === 0)
    throw new Problem("UNAUTHENTICATED", "The session or token of this request was revoked meanwhile.");
}

function findOpenTrail({ audited }: Statement): State | null {
  if (audited === undefined) return null;
  const state = TRAILS.getStore();
  return state?.progress === "open" && audited.includes(state.entry.action) ? state : null;
}

/** The entry of what was created has its id as the innermost one of the target. `made`: the row, or the body of the answer. */
export function completeEntry(entry: NewAuditEntry, made: unknown): NewAuditEntry {
  if (!entry.action.endsWith(".create") || typeof made !== "object" || made === null) return entry;
  const fields = new Map<string, unknown>(Object.entries(made));
  const id = ["id", "key", "keyId"]
    .map((name) => fields.get(name))
    .find((value) => typeof value === "string");
  if (typeof id !== "string" || entry.target.includes(id)) return entry;
  return { ...entry, target: [...entry.target, id] };
}

/** Appends an entry to its organisation's log, and to that of the other one that it concerns. */
export async function appendEntry(run: RunStatement, entry: NewAuditEntry): Promise<void> {
  const { organisationId, alsoIn } = entry;
  if (organisationId === null || alsoIn === undefined) return await appendTo(run, organisationId, entry);
  // In one order, so that no two requests wait for each other's logs.
  for (const log of [organisationId, alsoIn].toSorted()) await appendTo(run, log, entry);
}

async function appendTo(
  run: RunStatement,
  organisationId: string | null,
  entry: NewAuditEntry,
): Promise<void> {
  const { actorKind, actorId, credential, action, target, outcome, code, ip, changes } = entry;
  await run({
    name: "audit-append",
    text: "select append_audit_entry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    values: [
      organisationId,
      actorKind,
      actorId,
      credential,
      action,
      target.length === 0 ? null : target.join("/"),
      outcome,
      code,
      ip,
      JSON.stringify(changes),
    ],
  });
}
