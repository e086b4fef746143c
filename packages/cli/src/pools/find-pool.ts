import { foldName } from "@platform/contract/file-name";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

/** All data pools that the organisation sees, by name. */
export function listPools(client: PlatformClient): Promise<readonly DataPool[]> {
  return readAllPages((query) => client.listDataPools({ query }));
}

/** All files of a data pool, by name. */
export function listFiles(
  client: PlatformClient,
  { id }: Pick<DataPool, "id">,
): Promise<readonly PoolFile[]> {
  return readAllPages((query) => client.listPoolFiles({ params: { id }, query }));
}

/** The data pool with this id or name; those of others may have the same name. @throws UserError POOL_NOT_FOUND, POOL_AMBIGUOUS */
export async function findPool(client: PlatformClient, wanted: string): Promise<DataPool> {
  const pools = await listPools(client);
  const byId = pools.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const named = pools.filter(({ name }) => foldName(name) === foldName(wanted));
  const [first, ...others] = named;
  const details = pools.slice(0, SHOWN).map(({ id, name }) => `${name} (${id})`);
  if (first === undefined)
    throw new UserError("POOL_NOT_FOUND", `There is no data pool '${wanted}' in this organisation.`, {
      hint: "'platform pools create' makes one, 'platform pools --help' shows the commands, and 'platform whoami' the organisation.",
      details,
    });
  if (others.length > 0)
    throw new UserError("POOL_AMBIGUOUS", `There are several data pools named '${wanted}'.`, {
      hint: "Use the id instead of the name.",
      details: named.map(({ id, name }) => `${name} (${id})`),
    });
  return first;
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
