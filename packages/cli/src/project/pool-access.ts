import type { PoolGrant, PoolShare } from "@platform/contract/platform-api/pool-access";
import { isUuid } from "@platform/engine/base/uuid";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { listApplications } from "./find-application.ts";

/** All organisations that a data pool is shared with. */
export function listShares(client: PlatformClient, id: string): Promise<readonly PoolShare[]> {
  return readAllPages((query) => client.listPoolShares({ params: { id }, query }));
}

/** All applications that were granted a data pool. */
export function listGrants(client: PlatformClient, id: string): Promise<readonly PoolGrant[]> {
  return readAllPages((query) => client.listPoolGrants({ params: { id }, query }));
}

/**
 * Id of the organisation that is meant: one of the user's by id, slug or name; any other by its id.
 *
 * @throws UserError ORGANISATION_NOT_FOUND, ORGANISATION_AMBIGUOUS
 */
export async function findReceiver(client: PlatformClient, wanted: string): Promise<string> {
  const known = await readAllPages((query) => client.listOrganizations({ query }));
  const exact = known.find(({ id, slug }) => id === wanted || slug === wanted);
  if (exact !== undefined || isUuid(wanted)) return exact?.id ?? wanted.toLowerCase();
  return chooseOne("organisation", wanted, known).id;
}

/**
 * Id of the application that is meant: one of the organisation's by id or name; any other by its id.
 *
 * @throws UserError APPLICATION_NOT_FOUND, APPLICATION_AMBIGUOUS
 */
export async function findGrantee(client: PlatformClient, wanted: string): Promise<string> {
  if (isUuid(wanted)) return wanted.toLowerCase();
  return chooseOne("application", wanted, await listApplications(client)).id;
}

/**
 * Id of the organisation that a data pool is shared with, by id or name.
 *
 * @throws UserError ORGANISATION_NOT_FOUND, ORGANISATION_AMBIGUOUS
 */
export async function findShared(client: PlatformClient, pool: string, wanted: string): Promise<string> {
  const shares = await listShares(client, pool);
  const known = shares.map(({ organizationId, organizationName }) => ({
    id: organizationId,
    name: organizationName,
  }));
  return chooseOne("organisation", wanted, known).id;
}

/**
 * Id of the application that was granted a data pool, by id or name.
 *
 * @throws UserError APPLICATION_NOT_FOUND, APPLICATION_AMBIGUOUS
 */
export async function findGranted(client: PlatformClient, pool: string, wanted: string): Promise<string> {
  const grants = await listGrants(client, pool);
  const known = grants.map(({ applicationId, applicationName }) => ({
    id: applicationId,
    name: applicationName,
  }));
  return chooseOne("application", wanted, known).id;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const SHOWN = 20;

/** The one with this id, or the only one of this name. */
function chooseOne(kind: "organisation" | "application", wanted: string, known: readonly Named[]): Named {
  const matches = known.filter(({ id, name }) => id === wanted || name === wanted);
  const exact = matches.find(({ id }) => id === wanted) ?? (matches.length === 1 ? matches[0] : undefined);
  if (exact !== undefined) return exact;
  const details = known.slice(0, SHOWN).map(({ id, name }) => `${name} (${id})`);
  const code = kind.toUpperCase();
  throw matches.length > 1
    ? new UserError(`${code}_AMBIGUOUS`, `There are several with the name '${wanted}'.`, {
        hint: "Use the id instead of the name.",
        details: matches.map(({ id, name }) => `${name} (${id})`),
      })
    : new UserError(`${code}_NOT_FOUND`, `No ${kind} '${wanted}' is known here.`, {
        hint: `Use the id of an ${kind} that is not yours; 'platform pools access' lists who may use a pool.`,
        details,
      });
}
