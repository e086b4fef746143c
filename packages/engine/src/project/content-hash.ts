import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** One file of a project: relative path with `/`, size in bytes, SHA-256 of the content in hex. */
export interface ContentEntry {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * SHA-256 (hex) of the names and contents of a project's files, independent of their order. It identifies the content of a version.
 * Not the hash of the archive: the output of DEFLATE differs between zlib builds and processors.
 */
export function hashContent(entries: readonly ContentEntry[]): string {
  const hash = createHash("sha256").update("platform-project/1\n");
  for (const entry of [...entries].sort((a, b) => comparePaths(a.path, b.path))) {
    hash.update(`${entry.path}\0${entry.bytes}\0${entry.sha256}\n`);
  }
  return hash.digest("hex");
}

/** The same of files of a folder. @param paths relative, with `/` */
export async function hashFiles(directory: string, paths: readonly string[]): Promise<string> {
  const entries: ContentEntry[] = [];
  for (const path of paths) entries.push(await hashFile(directory, path));
  return hashContent(entries);
}

async function hashFile(directory: string, path: string): Promise<ContentEntry> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(createReadStream(join(directory, path)), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  });
  return { path, bytes, sha256: hash.digest("hex") };
}

/** Orders by UTF-8 bytes: the same on every machine and in every locale. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
