import { createHash, randomUUID } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { chmod, link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { MINUTE } from "@platform/engine/base/time";

/** A content as it was when it was kept. */
interface KeptContent {
  readonly sha256: string;
  readonly bytes: number;
  /** Read-only; as long as it is needed. */
  readonly path: string;
}

/** Copies of the developer's files, so that what is edited later changes no execution that was started. Equal content is kept once. */
export interface KeptContents {
  /**
   * Copies a regular file; nothing else is waited for, such as the writer of a pipe.
   *
   * @returns null: it is larger than `maxBytes`
   * @throws the system's error; Error where it is no regular file
   */
  readonly keep: (path: string, maxBytes: number) => Promise<KeptContent | null>;
  /** Makes `path` a hard link to a content; false: it is not there any more. */
  readonly linkTo: (sha256: string, path: string) => Promise<boolean>;
  /** An execution needs these until `release`. What none needs goes ten minutes after it was kept last. */
  readonly hold: (executionId: string, hashes: readonly string[]) => void;
  readonly release: (executionId: string) => Promise<void>;
}

/** Longer than a start takes from its pins to its execution. */
const GRACE_MS = 10 * MINUTE;
const READ_ONLY = 0o444;

interface Entry {
  readonly path: string;
  /** Milliseconds since the epoch. */
  keptAt: number;
}

/** In a folder of its own, which it makes. */
export function createKeptContents(directory: string, now: () => number = Date.now): KeptContents {
  const entries = new Map<string, Entry>();
  const needed = new Map<string, readonly string[]>();

  async function removeUnneeded(): Promise<void> {
    const held = new Set([...needed.values()].flat());
    for (const [sha256, { path, keptAt }] of entries) {
      if (held.has(sha256) || now() - keptAt < GRACE_MS) continue;
      // Equal content that is kept from now on is another file.
      entries.delete(sha256);
      await rm(path, { force: true });
    }
  }

  async function copyIn(from: string, maxBytes: number): Promise<KeptContent | null> {
    const path = join(directory, randomUUID());
    let isKept = false;
    try {
      const content = await copyHashed(from, path, maxBytes);
      if (content === null) return null;
      await chmod(path, READ_ONLY);
      const known = entries.get(content.sha256);
      isKept = known === undefined;
      const entry = known ?? { path, keptAt: 0 };
      entry.keptAt = now();
      entries.set(content.sha256, entry);
      return { ...content, path: entry.path };
    } finally {
      if (!isKept) await rm(path, { force: true });
    }
  }

  return {
    keep: async (from, maxBytes) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await removeUnneeded();
      return await copyIn(from, maxBytes);
    },
    linkTo: async (sha256, path) => {
      const entry = entries.get(sha256);
      if (entry === undefined) return false;
      await link(entry.path, path);
      return true;
    },
    hold: (executionId, hashes) => {
      if (hashes.length > 0) needed.set(executionId, hashes);
    },
    release: async (executionId) => {
      if (needed.delete(executionId)) await removeUnneeded();
    },
  };
}

/** Null: it is larger than `maxBytes`. */
async function copyHashed(
  from: string,
  to: string,
  maxBytes: number,
): Promise<Pick<KeptContent, "sha256" | "bytes"> | null> {
  const file = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, isFile } = await file
      .stat()
      .then((found) => ({ size: found.size, isFile: found.isFile() }));
    if (!isFile) throw new Error(`${from} is no regular file.`);
    if (size > maxBytes) return null;
    const digest = createHash("sha256");
    let bytes = 0;
    const count = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        digest.update(chunk);
        bytes += chunk.length;
        done(null, chunk);
      },
    });
    // Of a file that grows meanwhile, no more than it had.
    const source = size === 0 ? [] : file.createReadStream({ end: size - 1, autoClose: false });
    await pipeline(source, count, createWriteStream(to, { flags: "wx", mode: 0o600 }));
    return { sha256: digest.digest("hex"), bytes };
  } finally {
    await file.close();
  }
}
