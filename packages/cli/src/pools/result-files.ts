import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { RequestRefused } from "@platform/contract/client";
import type { ExecutionResult } from "@platform/contract/execution";
import { explainFileName, foldName } from "@platform/contract/file-name";
import { UserError } from "../base/errors.ts";
import type { Progress } from "../base/output.ts";
import type { Session } from "../base/session.ts";
import { describeContent } from "./describe-content.ts";
import { downloadContent } from "./download-file.ts";
import { toSafeName } from "./safe-name.ts";
import { createBar, hashFile } from "./transfer.ts";

/** Where the files of a job's result go, and what they are fetched with. */
interface Fetching {
  readonly session: Pick<Session, "send">;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly jobId: string;
  /** It is there; nothing is written outside. */
  readonly directory: string;
  /** Whether what is there with another content is replaced. */
  readonly force: boolean;
}

/** A file that is in the folder now. */
interface FetchedFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** False: it was there with this content. */
  readonly written: boolean;
}

/** A file that is not, and why. */
interface MissingFile {
  readonly name: string;
  readonly code: string;
  readonly detail: string;
}

/** What came of fetching all files. */
export interface FetchedFiles {
  readonly files: readonly FetchedFile[];
  readonly failed: readonly MissingFile[];
}

/** Names of a result's files. */
export function listResultFiles({ _links: links }: Pick<ExecutionResult, "_links">): readonly string[] {
  return Object.keys(links)
    .filter((name) => name !== "self" && name !== "status")
    .sort();
}

/**
 * Fetches one file after the other; each appears when all of it is there and has its sum. What is wrong with one does not keep the others.
 *
 * @throws what would be wrong with all: the result has expired, the connection is down, the disk is full
 */
export async function fetchResultFiles(fetching: Fetching, names: readonly string[]): Promise<FetchedFiles> {
  const files: FetchedFile[] = [];
  const failed: MissingFile[] = [];
  const taken = new Set<string>();
  for (const name of names) {
    fetching.progress.step(`Downloading ${name}`);
    try {
      files.push(await fetchOne(fetching, name, taken));
    } catch (error) {
      const missing = explainMissing(name, error);
      if (missing === null) {
        fetching.progress.print(`${files.length} of ${names.length} files are there; stopped at ${name}.`);
        throw error;
      }
      failed.push(missing);
    }
  }
  return { files, failed };
}

/** Null: the others would fail as well. */
function explainMissing(name: string, error: unknown): MissingFile | null {
  if (error instanceof UserError && OF_ONE_FILE.has(error.code))
    return { name, code: error.code, detail: error.message };
  if (error instanceof RequestRefused && error.problem.code === "NOT_FOUND")
    return { name, code: error.problem.code, detail: error.problem.detail };
  return null;
}

const OF_ONE_FILE: ReadonlySet<string> = new Set([
  "CHECKSUM_MISMATCH",
  "FILE_EXISTS",
  "INVALID_ANSWER",
  "INVALID_FILE_NAME",
]);

async function fetchOne(fetching: Fetching, name: string, taken: Set<string>): Promise<FetchedFile> {
  const { session, signal, progress, jobId, directory, force } = fetching;
  const fault = explainFileName(name);
  if (fault !== null) throw new UserError("INVALID_FILE_NAME", `The name cannot be used: ${fault}`);
  const safe = toSafeName(name);
  if (taken.has(foldName(safe)))
    throw new UserError("FILE_EXISTS", `Another file of the result is stored as ${safe}.`);
  taken.add(foldName(safe));
  const link = `/jobs/${encodeURIComponent(jobId)}/result/${encodeURIComponent(name)}`;
  const content = await describeContent(fetching, link, name);
  const { bytes, sha256 } = content;
  const path = join(directory, safe);
  const hasContent = async ({ size }: Stats) => size === bytes && (await hashFile(path, signal)) === sha256;
  if (await isThere(path, hasContent, force)) return { name, path, bytes, sha256, written: false };
  await downloadContent({ session, signal, onBytes: createBar(progress) }, content, path);
  return { name, path, bytes, sha256, written: true };
}

/**
 * Whether a path has this content already. What else is there may be replaced only by force, a folder never.
 *
 * @throws UserError FILE_EXISTS
 */
async function isThere(
  path: string,
  hasContent: (found: Stats) => Promise<boolean>,
  force: boolean,
): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return false;
  if (found.isFile() && (await hasContent(found))) return true;
  if (force && !found.isDirectory()) return false;
  throw new UserError("FILE_EXISTS", `${path} is there already.`, {
    hint: found.isDirectory() ? "Remove the folder." : "Remove it, or replace it with --force.",
  });
}

/**
 * Writes the result beside its files, at once or not at all.
 *
 * @throws UserError FILE_EXISTS
 */
export async function writeResult(path: string, text: string, force: boolean): Promise<void> {
  const hasContent = async ({ size }: Stats) => {
    if (size !== Buffer.byteLength(text)) return false;
    const file = await open(path, "r");
    try {
      return (await file.readFile("utf8")) === text;
    } finally {
      await file.close();
    }
  };
  if (await isThere(path, hasContent, force)) return;
  const part = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`);
  try {
    const file = await open(part, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}
