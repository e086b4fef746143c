import { Problem } from "@platform/contract/problems";
import type { RunStatement } from "../../postgres/database.ts";

/** How many of something one parent can have at a time. */
export interface Bound {
  readonly limit: number;
  /** What is counted, as a noun in the plural. */
  readonly what: string;
  /** Of whom or what, as a subject: "The application". */
  readonly of: string;
  /** How to make room, as half a sentence. */
  readonly remedy: string;
}

/** Every number of rows that users can grow one by one. More than anybody needs: who makes them by a program is stopped. */
export const BOUNDS = {
  tokens: {
    limit: 100,
    what: "valid personal access tokens",
    of: "The user",
    remedy: "revoke one first",
  },
  sessions: {
    limit: 50,
    what: "sessions",
    of: "The user",
    remedy: "the one that was not used for the longest time ends",
  },
  memberships: {
    limit: 500,
    what: "memberships of organisations",
    of: "The user",
    remedy: "leave or delete an organisation first",
  },
  ownedOrganisations: {
    limit: 50,
    what: "organisations of which they are owner, besides their own",
    of: "The user",
    remedy: "delete one first",
  },
  members: { limit: 1_000, what: "members", of: "The organisation", remedy: "remove one first" },
  invitations: {
    limit: 200,
    what: "open invitations",
    of: "The organisation",
    remedy: "revoke one first",
  },
  applications: { limit: 1_000, what: "applications", of: "The organisation", remedy: "delete one first" },
  services: {
    limit: 1_000,
    what: "services",
    of: "The organisation",
    remedy: "deploy to one that is there, or use another organisation",
  },
  accessKeys: {
    limit: 20,
    what: "access keys that are neither revoked nor expired",
    of: "The application",
    remedy: "revoke one first",
  },
  subscriptions: {
    limit: 1_000,
    what: "subscriptions",
    of: "The application",
    remedy: "cancel one first",
  },
  plans: { limit: 50, what: "plans", of: "The service", remedy: "withdraw one first" },
  planRevisions: {
    limit: 1_000,
    what: "revisions of plans, former ones included",
    of: "The service",
    remedy: "offer other terms by another service",
  },
  /** All of one scope go to a process at once: 50 times 8 KB. */
  variables: {
    limit: 50,
    what: "secrets and variables",
    of: "The service or organisation",
    remedy: "delete one first",
  },
  dataPools: { limit: 1_000, what: "data pools", of: "The organisation", remedy: "delete one first" },
  poolFiles: {
    limit: 10_000,
    what: "files",
    of: "The data pool",
    remedy: "delete one first, or use another pool",
  },
  poolShares: {
    limit: 100,
    what: "organisations that it is shared with",
    of: "The data pool",
    remedy: "withdraw a share first",
  },
  /** A tenth of the next one: nobody is asked before, and one organisation alone must not take the room of all others. */
  sharedPoolsOfOne: {
    limit: 100,
    what: "data pools that your organisation or you share with it",
    of: "The organisation",
    remedy: "withdraw a share first",
  },
  sharedPools: {
    limit: 1_000,
    what: "data pools that others share with it",
    of: "The organisation",
    remedy: "one of its owners ends a share first",
  },
  poolGrants: {
    limit: 1_000,
    what: "applications that may use it",
    of: "The data pool",
    remedy: "withdraw a grant first",
  },
  uploads: {
    limit: 100,
    what: "uploads to data pools that have begun and can be resumed",
    of: "The organisation",
    remedy: "finish one or give it up; after a day in which nothing arrives it ends by itself",
  },
  schedules: { limit: 100, what: "schedules", of: "The organisation", remedy: "delete one first" },
  webhooks: { limit: 20, what: "webhooks", of: "The application", remedy: "delete one first" },
  webhookTests: {
    limit: 10,
    what: "test messages that are not delivered yet",
    of: "The webhook",
    remedy: "wait until one is delivered or given up",
  },
} as const satisfies Record<string, Bound>;

/** Name of a bound. */
export type BoundName = keyof typeof BOUNDS;

/** The refusal of one more, or of more than there is room for. */
export function refuseMore(
  name: BoundName,
  { found, more }: Wanted = { found: BOUNDS[name].limit, more: 1 },
): Problem {
  const { limit, what, of, remedy } = BOUNDS[name];
  const has =
    found >= limit
      ? `has ${limit} ${what}, which is the limit`
      : `has ${found} ${what}, and may have ${limit}: there is no room for ${more} more`;
  return new Problem("QUOTA_EXCEEDED", `${of} ${has}; ${remedy}.`);
}

interface Wanted {
  readonly found: number;
  readonly more: number;
}

/** What is counted. */
interface Counted {
  /** What follows "select 1". */
  readonly text: string;
  readonly values: readonly unknown[];
  /** How many are to be made; default one. */
  readonly more?: number;
}

/**
 * Checks that one more may be made, or several, under the lock of the parent that the transaction holds: a statement of its own, since it
 * must see what was committed while the lock was waited for.
 *
 * @throws Problem QUOTA_EXCEEDED
 */
export async function requireRoom(
  run: RunStatement,
  name: BoundName,
  { text, values, more = 1 }: Counted,
): Promise<void> {
  const { limit } = BOUNDS[name];
  const found = await run({ text: `select 1 ${text} limit ${limit}`, values, idempotent: true });
  if (found.length + more > limit) throw refuseMore(name, { found: found.length, more });
}
