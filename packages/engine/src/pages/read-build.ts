import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../base/json.ts";
import { getCode } from "../base/thrown.ts";

/** How a file of a build can be sent; `identity` is as it is. */
export type Encoding = "identity" | "gzip" | "br";

/** One file of built pages, under the path at which it is served. */
export interface PageFile {
  /** Media type, with the charset. */
  readonly type: string;
  /** Without quotation marks; changes with the content. */
  readonly tag: string;
  /** Whether another content would have another path. */
  readonly isImmutable: boolean;
  readonly bodies: ReadonlyMap<Encoding, Buffer>;
}

/** Pages as `tools/build-console.ts` has built them: the console, or the page of `platform serve`. */
export interface BuiltPages {
  /** HTML of all pages, around each place of the nonce. */
  readonly index: readonly string[];
  /** By path, as requests have it: what is not here is not served. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const SUFFIXES = { identity: "", br: ".br", gzip: ".gz" } as const satisfies Record<Encoding, string>;
const ENCODINGS = ["identity", "br", "gzip"] as const satisfies readonly Encoding[];
/** Stands in the built page for a random value that differs in each answer. */
const NONCE = "__CSP_NONCE__";
const FILE_NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;
const PATH = /^(?:\/[\w-][\w.-]*)+$/u;
const TAG = /^"([\w+/=-]{1,100})"$/u;

/**
 * Reads what was built into the folder, all of it: a build beside a running server changes nothing of what that serves.
 *
 * @returns null where there is none
 * @throws Error where its parts do not belong together
 */
export async function readBuild(directory: string): Promise<BuiltPages | null> {
  const text = await readManifest(directory);
  if (text === null) return null;
  const manifest: unknown = JSON.parse(text);
  if (!isRecord(manifest) || typeof manifest["index"] !== "string" || !Array.isArray(manifest["files"]))
    throw new Error("manifest.json has no index or no files");
  const { index } = manifest;
  const page = (await readPart(directory, index)).toString("utf8");
  const files: readonly unknown[] = manifest["files"];
  // The page is sent with a nonce only.
  const others = files.filter((file) => !isRecord(file) || file["file"] !== index);
  return {
    index: page.split(NONCE),
    files: new Map(await Promise.all(others.map((file) => readEntry(directory, file)))),
  };
}

async function readManifest(directory: string): Promise<string | null> {
  try {
    return await readFile(join(directory, "manifest.json"), "utf8");
  } catch (error) {
    if (getCode(error) === "ENOENT" || getCode(error) === "ENOTDIR") return null;
    throw error;
  }
}

async function readEntry(directory: string, entry: unknown): Promise<readonly [string, PageFile]> {
  if (!isRecord(entry)) throw new Error("manifest.json lists a file that is no object");
  const { path, file, type, etag, immutable, lengths } = entry;
  const [, tag] = TAG.exec(String(etag)) ?? [];
  if (typeof path !== "string" || !PATH.test(path) || typeof file !== "string" || !isRecord(lengths))
    throw new Error(`manifest.json has no path, file or lengths of ${String(path)}`);
  if (typeof type !== "string" || tag === undefined || typeof immutable !== "boolean")
    throw new Error(`manifest.json has no type, etag or immutable of ${path}`);
  return [path, { type, tag, isImmutable: immutable, bodies: await readBodies(directory, file, lengths) }];
}

async function readBodies(
  directory: string,
  file: string,
  lengths: Readonly<Record<string, unknown>>,
): Promise<PageFile["bodies"]> {
  const bodies = new Map<Encoding, Buffer>();
  for (const encoding of ENCODINGS) {
    const length = lengths[encoding];
    if (length === undefined && encoding !== "identity") continue;
    const body = await readPart(directory, `${file}${SUFFIXES[encoding]}`);
    if (body.length !== length)
      throw new Error(`${file}${SUFFIXES[encoding]} has ${body.length} bytes and not ${String(length)}`);
    bodies.set(encoding, body);
  }
  return bodies;
}

async function readPart(directory: string, name: string): Promise<Buffer> {
  if (!FILE_NAME.test(name)) throw new Error(`manifest.json names ${name}, which is no file of a build`);
  return await readFile(join(directory, name));
}
