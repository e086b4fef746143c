import { createHash } from "node:crypto";
import { lstat, readFile, readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { FileReference } from "@platform/contract/execution";
import { explainFileName, foldName } from "@platform/contract/file-name";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { isRecord } from "@platform/engine/base/json";
import { getCode } from "@platform/engine/base/thrown";
import { isUuid } from "@platform/engine/base/uuid";

/*
 * Data pools of the local server: each sub-folder is a pool, each file in it a file of the pool. Beside the folder `Maps` there may be `Maps.json`,
 * the answer of `GET /api/data-pools/{id}/files`, an array of its pages, or what `platform pools ls` prints with `--json`: its files then have the ids that they have on the platform. All other ids follow from the names
 * alone: they are the same at every start and on every machine, and stay when a file is edited.
 */

/** A file that executions may read. */
export interface LocalFile {
  readonly name: string;
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly reference: FileReference;
}

/** A folder of such files. */
export interface LocalPool {
  readonly id: string;
  readonly name: string;
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** By name. */
  readonly files: readonly LocalFile[];
}

/** What a folder of data pools has. */
export interface LocalPools {
  readonly pools: readonly LocalPool[];
  /** What is left out and why, as sentences. */
  readonly notes: readonly string[];
}

const MAX_SAVED_BYTES = 64 * MEGABYTE;
/** Of the variant bits of RFC 9562. */
const VARIANTS = "89ab";

/** Why a file that any other data pool can have is none of a local one, as a sentence; null: it is. */
export function explainLocalName(name: string): string | null {
  return name.startsWith(".") ? "Names that begin with a period are no files of a local data pool." : null;
}

/** Looks anew each time: the developer adds files while the server runs. A folder that does not exist has no pools. */
export async function readPools(root: string): Promise<LocalPools> {
  const notes: string[] = [];
  const real = await realpath(root).catch(() => null);
  if (real === null) return { pools: [], notes };
  const pools: LocalPool[] = [];
  for (const name of await list(real, notes)) {
    const path = join(real, name);
    const found = await lstat(path).catch(() => null);
    if (found?.isSymbolicLink()) notes.push(`${name} is left out: a data pool is no symbolic link.`);
    if (!found?.isDirectory()) continue;
    const pool = await readPool(path, name, notes);
    if (pools.some(({ id }) => id === pool.id))
      notes.push(`The data pool ${name} is left out: another one has its id.`);
    else pools.push(pool);
  }
  return { pools, notes };
}

/** Null: there is none of this id. */
export function findPool(pools: readonly LocalPool[], dataPoolId: string): LocalPool | null {
  return pools.find(({ id }) => id.toLowerCase() === dataPoolId.toLowerCase()) ?? null;
}

/** Null: there is none of these three ids. */
export function findFile(pools: readonly LocalPool[], reference: FileReference): LocalFile | null {
  const key = keyOf(reference);
  return pools.flatMap(({ files }) => files).find((file) => keyOf(file.reference) === key) ?? null;
}

function keyOf({ dataPoolId, dataSourceDescriptorId, fileId }: FileReference): string {
  return [dataPoolId, dataSourceDescriptorId, fileId].join("/").toLowerCase();
}

async function readPool(path: string, name: string, notes: string[]): Promise<LocalPool> {
  const saved = await readSaved(`${path}.json`, notes);
  const own = isUuid(name) ? name.toLowerCase() : deriveId("pool", name);
  const id = saved.values().next().value?.dataPoolId ?? own;
  const files: LocalFile[] = [];
  const taken = new Set<string>();
  for (const file of await list(path, notes)) {
    const shown = `${name}/${file}`;
    const found = await locate(path, file);
    const fault = typeof found === "string" ? null : found.fault;
    if (fault !== null) notes.push(`${shown} is left out: it ${fault}.`);
    else if (taken.has(foldName(file)))
      notes.push(`${shown} is left out: names in a data pool are unique without regard to case.`);
    if (typeof found !== "string" || taken.has(foldName(file))) continue;
    taken.add(foldName(file));
    const derived = {
      dataPoolId: id,
      dataSourceDescriptorId: deriveId("descriptor", id, file),
      fileId: deriveId("file", id, file),
    };
    files.push({ name: file, path: found, reference: saved.get(file) ?? derived });
  }
  return { id, name, path, files };
}

/** Names that a file of a data pool can have; those that begin with a period are not meant. */
async function list(path: string, notes: string[]): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: unknown) => {
    notes.push(`${path} is left out: it cannot be read (${getCode(error) ?? "unknown"}).`);
    return [];
  });
  return names
    .filter((name) => {
      if (explainLocalName(name) !== null) return false;
      const fault = explainFileName(name);
      if (fault !== null) notes.push(`${join(path, JSON.stringify(name))} is left out. ${fault}`);
      return fault === null;
    })
    .sort();
}

/** Where the content of a file is: a symbolic link may name another file of its pool, and nothing else. */
async function locate(pool: string, name: string): Promise<string | { readonly fault: string }> {
  try {
    const path = await realpath(join(pool, name));
    if (!path.startsWith(pool + sep)) return { fault: "is a symbolic link that leaves the data pool" };
    const { isFile, isFolder } = await stat(path).then((found) => ({
      isFile: found.isFile(),
      isFolder: found.isDirectory(),
    }));
    if (isFile) return path;
    return { fault: isFolder ? "is a folder, and a data pool has none" : "is no regular file" };
  } catch (error) {
    return { fault: `cannot be read (${getCode(error) ?? "unknown"})` };
  }
}

/** The references of the saved list, by name; none where there is no list. */
async function readSaved(path: string, notes: string[]): Promise<ReadonlyMap<string, FileReference>> {
  const references = new Map<string, FileReference>();
  const text = await readText(path);
  if (text === null) return references;
  const items = parseItems(text);
  if (items === null) notes.push(`${path} is no list of files as the platform answers it; it is ignored.`);
  for (const item of items ?? []) {
    const { name, reference } = isRecord(item) ? item : {};
    const ids = readReference(reference);
    const [first] = references.values();
    if (typeof name !== "string" || ids === null)
      notes.push(`${path} has an item without name or reference.`);
    else if (first !== undefined && first.dataPoolId !== ids.dataPoolId)
      notes.push(`${path} has files of several data pools; those of ${first.dataPoolId} count.`);
    else references.set(name, ids);
  }
  return references;
}

async function readText(path: string): Promise<string | null> {
  try {
    const { size, isFile } = await lstat(path).then((found) => ({
      size: found.size,
      isFile: found.isFile(),
    }));
    return isFile && size <= MAX_SAVED_BYTES ? await readFile(path, "utf8") : null;
  } catch {
    return null;
  }
}

function parseItems(text: string): readonly unknown[] | null {
  try {
    const read: unknown = JSON.parse(text);
    // As `platform pools ls POOL --json` prints them.
    if (Array.isArray(read) && read.some((one) => isRecord(one) && "reference" in one)) return read;
    const pages: readonly unknown[] = Array.isArray(read) ? read : [read];
    const items = pages.map((page) =>
      isRecord(page) && Array.isArray(page["items"]) ? page["items"] : null,
    );
    return items.includes(null) ? null : items.flat();
  } catch {
    return null;
  }
}

function readReference(value: unknown): FileReference | null {
  if (!isRecord(value)) return null;
  const { dataPoolId, dataSourceDescriptorId, fileId } = value;
  if (!isId(dataPoolId) || !isId(dataSourceDescriptorId) || !isId(fileId)) return null;
  return { dataPoolId, dataSourceDescriptorId, fileId };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && isUuid(value);
}

/** A UUID of version 8 (RFC 9562, section 5.8) that follows from these names. */
function deriveId(...names: readonly string[]): string {
  const hex = createHash("sha256")
    .update(JSON.stringify(["platform serve", ...names]))
    .digest("hex");
  const variant = VARIANTS[Number.parseInt(hex.slice(16, 17), 16) % VARIANTS.length] ?? "8";
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join("-");
}
