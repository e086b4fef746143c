import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { PROGRAM_FILE, PROJECT_FILE } from "@platform/contract/project";
import type { Project } from "@platform/contract/project";
import { ZipFile } from "yazl";
import { getMessage } from "../base/thrown.ts";
import { hashContent } from "./content-hash.ts";
import type { ContentEntry } from "./content-hash.ts";
import { DEFAULT_PROJECT_LIMITS, formatBytes, isBomb } from "./limits.ts";
import type { ProjectLimits } from "./limits.ts";
import { listProjectFiles } from "./list-files.ts";
import { ProjectError } from "./project-error.ts";
import { readProject } from "./read-project.ts";

/** A packed project, ready to be sent. */
export interface PackedProject {
  readonly project: Project;
  /** A ZIP file. Equal input gives equal bytes under the same Node.js. */
  readonly archive: Buffer;
  /** SHA-256 (hex) of names and contents: equal on every machine, and equal to the hash that `unpackProject` computes. */
  readonly hash: string;
  readonly files: number;
  /** Size of all files before compression. */
  readonly bytes: number;
}

/** What differs between packing for `platform up` and `platform compress`. */
export interface PackOptions {
  /** Called after each file. */
  readonly onProgress?: (progress: {
    readonly file: string;
    readonly done: number;
    readonly total: number;
  }) => void;
  /** Default `DEFAULT_PROJECT_LIMITS`. */
  readonly limits?: Partial<ProjectLimits>;
  /** Paths relative to the project that are left out as well. */
  readonly exclude?: readonly string[];
}

// A ZIP file stores local time without a zone: this is the same wall clock time everywhere.
const FIXED_TIME = { year: 2000, month: 0, day: 1 };
const FIXED_MODE = 0o100644;

/** The file that `platform compress` writes into the project's root; it is never packed itself. */
export function getArchiveName(project: Project): string {
  return `${project.name}.zip`;
}

/**
 * Checks a project and packs the files that belong to a version (`listProjectFiles`): sorted, with fixed times and modes.
 *
 * @throws ProjectError INVALID_PROJECT, PROJECT_TOO_LARGE
 */
export async function packProject(directory: string, options: PackOptions = {}): Promise<PackedProject> {
  const limits = { ...DEFAULT_PROJECT_LIMITS, ...options.limits };
  const root = await realpath(directory).catch(() => directory);
  const project = await readProject(root);
  const paths = await listProjectFiles(root, [getArchiveName(project), ...(options.exclude ?? [])]);
  checkNeededFiles(project, paths);
  if (paths.length > limits.files) {
    throw createTooLarge(`The project has ${paths.length} files; at most ${limits.files} are allowed.`);
  }
  const entries: ContentEntry[] = [];
  const archive = await writeArchive(root, paths, limits, (entry) => {
    entries.push(entry);
    options.onProgress?.({ file: entry.path, done: entries.length, total: paths.length });
  });
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  checkArchive(archive.length, bytes, limits);
  return { project, archive, hash: hashContent(entries), files: entries.length, bytes };
}

/** Refuses to exclude files that the builder needs: here, the user can still correct it. */
function checkNeededFiles(project: Project, paths: readonly string[]): void {
  const needed = [PROJECT_FILE, PROGRAM_FILE];
  if (project.descriptionFile !== undefined) needed.push(project.descriptionFile.replace(/^\.\//, ""));
  for (const path of needed) {
    if (paths.includes(path)) continue;
    const message = `'${path}' is needed but left out: remove it from .platformignore.`;
    throw new ProjectError("INVALID_PROJECT", message, { errors: [{ path, message }] });
  }
}

async function writeArchive(
  root: string,
  paths: readonly string[],
  limits: ProjectLimits,
  onEntry: (entry: ContentEntry) => void,
): Promise<Buffer> {
  const zip = new ZipFile();
  // yazl does not handle errors of the streams that it is given.
  const measure = createMeter(limits, (error) => zip.emit("error", error));
  const mtime = new Date(FIXED_TIME.year, FIXED_TIME.month, FIXED_TIME.day);
  for (const path of paths) {
    const entryOptions = { mtime, mode: FIXED_MODE, forceDosTimestamp: true, compressionLevel: 6 };
    zip.addReadStreamLazy(path, entryOptions, (done) => {
      void openFile(root, path)
        .then((stream) => measure(path, stream, onEntry))
        .then(
          // oxlint-disable-next-line promise/no-callback-in-promise -- yazl knows callbacks only
          (stream) => done(null, stream),
          (error: unknown) => zip.emit("error", error),
        );
    });
  }
  const failed = new Promise<never>((_resolve, reject) => {
    zip.on("error", (error) => reject(error instanceof Error ? error : new Error(String(error))));
  });
  zip.end();
  return Promise.race([buffer(zip.outputStream), failed]);
}

async function openFile(root: string, path: string): Promise<Readable> {
  try {
    // A link put in place of a listed file must not be followed out of the project. Windows has no such flag.
    const handle = await open(join(root, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    return handle.createReadStream();
  } catch (error) {
    throw new ProjectError("INVALID_PROJECT", `'${path}' cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

/** Hashes and counts the bytes that are actually packed: a file may change between listing and reading. */
function createMeter(limits: ProjectLimits, onError: (error: Error) => void) {
  let total = 0;
  return (path: string, source: Readable, onEntry: (entry: ContentEntry) => void): Readable => {
    const hash = createHash("sha256");
    let bytes = 0;
    const through = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        bytes += chunk.length;
        total += chunk.length;
        hash.update(chunk);
        callback(findExcess(path, bytes, total, limits), chunk);
      },
      flush(callback) {
        onEntry({ path, bytes, sha256: hash.digest("hex") });
        callback();
      },
    });
    source.on("error", (error) => through.destroy(error));
    through.on("error", onError);
    through.on("close", () => source.destroy());
    return source.pipe(through);
  };
}

function findExcess(path: string, bytes: number, total: number, limits: ProjectLimits): ProjectError | null {
  if (bytes > limits.fileBytes) {
    return createTooLarge(
      `'${path}' is larger than ${formatBytes(limits.fileBytes)}, the limit for one file.`,
    );
  }
  if (total > limits.totalBytes) {
    return createTooLarge(`The project is larger than ${formatBytes(limits.totalBytes)}.`);
  }
  return null;
}

function checkArchive(archiveBytes: number, bytes: number, limits: ProjectLimits): void {
  if (archiveBytes > limits.archiveBytes) {
    throw createTooLarge(`The packed project is larger than ${formatBytes(limits.archiveBytes)}.`);
  }
  if (isBomb(bytes, archiveBytes, limits)) {
    throw createTooLarge(
      `The project's ${formatBytes(bytes)} are so uniform that they pack into ${formatBytes(archiveBytes)}, which would be refused as a ZIP bomb.`,
    );
  }
}

function createTooLarge(message: string): ProjectError {
  return new ProjectError(
    "PROJECT_TOO_LARGE",
    `${message} Name what a version does not need in .platformignore.`,
  );
}
