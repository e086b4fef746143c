import { foldName } from "@platform/contract/file-name";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

/** How commands describe the argument that `findPool` takes. */
export const POOL_WORD = "Name of a data pool of the organisation, or the id of any that it sees";

/** All data pools that the organisation sees, its own and those of others, by name; or those that have this in their names. */
export function listPools(client: PlatformClient, search?: string): Promise<readonly DataPool[]> {
  return readAllPages((query) => client.listDataPools({ query: { ...query, ...toFilter(search) } }));
}

/** All files of a data pool, by name, likewise. */
export function listFiles(
  client: PlatformClient,
  { id }: Pick<DataPool, "id">,
  search?: string,
): Promise<readonly PoolFile[]> {
  return readAllPages((query) =>
    client.listPoolFiles({ params: { id }, query: { ...query, ...toFilter(search) } }),
  );
}

function toFilter(search: string | undefined): { readonly q?: string } {
  return search === undefined ? {} : { q: search };
}

/**
 * The data pool with this id, or the organisation's own of this name. A name is never a pool of others: anyone can share one under any name.
 *
 * @throws UserError POOL_NOT_FOUND
 */
export async function findPool(client: PlatformClient, wanted: string): Promise<DataPool> {
  const pools = await listPools(client);
  const isNamed = ({ name }: DataPool) => foldName(name) === foldName(wanted);
  const found =
    pools.find(({ id }) => id === wanted.toLowerCase()) ??
    pools.find((pool) => pool.role === "owner" && isNamed(pool));
  if (found !== undefined) return found;
  const shared = pools.filter(isNamed);
  if (shared.length > 0)
    throw new UserError(
      "POOL_NOT_FOUND",
      `This organisation has no data pool '${wanted}' of its own; another shares one of this name with it.`,
      {
        hint: "Use the id for a pool of another organisation, if it is the one you mean.",
        details: shared.slice(0, SHOWN).map(describe),
      },
    );
  throw new UserError("POOL_NOT_FOUND", `There is no data pool '${wanted}' in this organisation.`, {
    hint: "'platform pools create' makes one, 'platform pools --help' shows the commands, and 'platform whoami' the organisation.",
    details: pools.slice(0, SHOWN).map(describe),
  });
}

function describe({ id, name, role, organizationName }: DataPool): string {
  return `${name} (${id})${role === "owner" ? "" : `, shared by ${organizationName}`}`;
}

/** The file of a pool with this id or name. @throws UserError FILE_NOT_FOUND */
export async function findFile(client: PlatformClient, pool: DataPool, wanted: string): Promise<PoolFile> {
  const files = await listFiles(client, pool);
  const found =
    files.find(({ fileId }) => fileId === wanted) ??
    files.find(({ name }) => foldName(name) === foldName(wanted));
  if (found !== undefined) return found;
  throw new UserError("FILE_NOT_FOUND", `The data pool ${pool.name} has no file '${wanted}'.`, {
    hint: `'platform pools ls ${pool.id}' lists its files.`,
    details: files.slice(0, SHOWN).map(({ name }) => name),
  });
}

const SHOWN = 20;
