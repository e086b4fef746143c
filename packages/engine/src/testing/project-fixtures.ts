import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import zlib from "node:zlib";
import { ProjectError } from "../project/project-error.ts";

/** Fixtures: project folders, and archives that a correct program would not write. */
export interface Workspace {
  readonly path: string;
  readonly close: () => Promise<void>;
}

export async function createWorkspace(): Promise<Workspace> {
  const path = await mkdtemp(join(tmpdir(), "project-"));
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}

export const MINIMAL_PROJECT: Readonly<Record<string, string>> = {
  "platform.json": JSON.stringify({ name: "demo", runtime: "PYTHON_TEMPLATE" }),
  "src/__init__.py": "",
  "src/program.py": "def run(data, params):\n    return {}\n",
};

/** Writes files by relative path, in the order given. */
export async function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** The ProjectError that this rejects with; anything else fails the test. */
export async function catchProjectError(promise: Promise<unknown>): Promise<ProjectError> {
  const error: unknown = await promise.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof ProjectError) return error;
  throw error;
}

/** A wheel is a ZIP file with three files of metadata (PEP 427): no index and no build is needed to install it. */
export function createWheel(name: string, files: Readonly<Record<string, string>>): Buffer {
  const info = `${name}-1.0.dist-info`;
  const all = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: "",
  };
  const entries = Object.entries(all).map(([path, text]) => {
    const mode = path.includes(".data/scripts/") ? 0o100755 : 0o100644;
    return { name: path, content: Buffer.from(text), mode };
  });
  return createRawZip(entries);
}

export interface RawEntry {
  readonly name: string | Buffer;
  readonly content?: Buffer;
  /** Unix mode with its type bits. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly comment?: Buffer;
  /** What the headers claim, where that is not the truth. */
  readonly claimedSize?: number;
  readonly claimedChecksum?: number;
}

/** A ZIP file byte by byte (APPNOTE.TXT 4.3), with whatever lies the entries ask for. */
export function createRawZip(entries: readonly RawEntry[], claimedEntries = entries.length): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { name, head, body } = createHead(entry);
    const local = Buffer.concat([Buffer.from("504b0304", "hex"), head, name, body]);
    const comment = entry.comment ?? Buffer.alloc(0);
    const central = Buffer.alloc(16);
    central.writeUInt16LE(comment.length, 0);
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 8 - 2);
    central.writeUInt32LE(offset, 12 - 2);
    centrals.push(
      Buffer.from("504b0102", "hex"),
      Buffer.from([63, 3]),
      head,
      central.subarray(0, 14),
      name,
      comment,
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(claimedEntries, 8);
  end.writeUInt16LE(claimedEntries, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function createHead(entry: RawEntry): {
  readonly name: Buffer;
  readonly head: Buffer;
  readonly body: Buffer;
} {
  const name = Buffer.from(entry.name);
  const content = entry.content ?? Buffer.alloc(0);
  const method = entry.method ?? 8;
  const body = method === 8 ? zlib.deflateRawSync(content) : content;
  const head = Buffer.alloc(26);
  head.writeUInt16LE(20, 0);
  head.writeUInt16LE(entry.flags ?? 0x800, 2);
  head.writeUInt16LE(method, 4);
  head.writeUInt32LE(entry.claimedChecksum ?? zlib.crc32(content), 10);
  head.writeUInt32LE(body.length, 14);
  head.writeUInt32LE(entry.claimedSize ?? content.length, 18);
  head.writeUInt16LE(name.length, 22);
  return { name, head, body };
}
