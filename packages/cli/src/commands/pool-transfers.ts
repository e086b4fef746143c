import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { explainFileName, foldName } from "@platform/contract/file-name";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { makeOutputFolder } from "../base/files.ts";
import { UserError, createInterruption, createUsageError } from "../base/errors.ts";
import type { Progress } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";
import { downloadFile } from "../pools/download-file.ts";
import { POOL_WORD, findFile, findPool, listFiles } from "../pools/find-pool.ts";
import { formatBytes } from "../pools/format-bytes.ts";
import { toSafeName } from "../pools/safe-name.ts";
import { createBar, hashFile } from "../pools/transfer.ts";
import { readSize, uploadFile } from "../pools/upload-file.ts";

/** `platform pools upload`: one file after the other. */
export const uploadPoolFilesCommand = defineCommand({
  name: "pools upload",
  summary: "Upload files to a data pool",
  description: [
    "A file takes the place of the one of its name. What the pool has already with the same content is not sent.",
    "After Ctrl-C, a broken connection or a restart the same command goes on where it ended, within a day.",
  ],
  arguments: {
    pool: { description: POOL_WORD, required: true },
    files: { description: "Paths of the files", required: true, isList: true },
  },
  options: {
    name: {
      kind: "text",
      placeholder: "name",
      description: "Name in the pool, of a single file; default: its own",
    },
  },
  examples: [
    { command: "platform pools upload Maps berlin52.json", comment: "One file" },
    { command: "platform pools upload Maps *.json", comment: "Several files" },
    { command: "platform pools upload Maps data.json --name berlin.json", comment: "Under another name" },
  ],
  run: async (context, { arguments: { pool: wanted, files }, options: { name } }) => {
    if (name !== undefined && files.length > 1) throw createUsageError("--name is for a single file.");
    const sources = [];
    for (const file of files) sources.push(await readSource(context, file, name));
    const session = await openSession(context);
    const pool = await findPool(session.client, wanted);
    const stored: PoolFile[] = [];
    const progress = context.output.startProgress(`Uploading to ${pool.name}`);
    try {
      for (const source of sources) stored.push(await upload({ context, session, pool, progress }, source));
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw createInterruption("Run the same command again: it goes on where it ended.");
    } finally {
      progress.stop();
    }
    for (const { name: given, bytes, fileId } of stored)
      context.output.print(`${given}  ${formatBytes(bytes)}  ${fileId}`);
    return { json: stored, succeeded: true };
  },
});

interface Source {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

/** Before anything is sent. @throws UserError FILE_NOT_FOUND, INVALID_FILE_NAME */
async function readSource(
  { directory }: CommandContext,
  file: string,
  given: string | undefined,
): Promise<Source> {
  const path = resolve(directory, file);
  const bytes = await readSize(path);
  if (bytes === null)
    throw new UserError("FILE_NOT_FOUND", `${path} is no file.`, {
      hint: "Check the path; folders are not uploaded.",
    });
  const name = given ?? basename(path).normalize("NFC");
  const fault = explainFileName(name);
  if (fault === null) return { path, name, bytes };
  throw new UserError("INVALID_FILE_NAME", `The name '${name}' cannot be used: ${fault}`, {
    hint: "Choose another with --name.",
  });
}

interface Uploading {
  readonly context: CommandContext;
  readonly session: Session;
  readonly pool: DataPool;
  readonly progress: Progress;
}

async function upload({ context, session, pool, progress }: Uploading, source: Source): Promise<PoolFile> {
  const { path, name, bytes } = source;
  const { signal } = context;
  progress.step(`Reading ${name}`);
  const sha256 = await hashFile(path, signal);
  const known = (await listFiles(session.client, pool)).find(
    (file) => foldName(file.name) === foldName(name),
  );
  if (known?.sha256 === sha256) {
    progress.print(`${name} is there already.`);
    return known;
  }
  progress.step(`Uploading ${name}`);
  const fileId = await uploadFile(
    { session, signal, cacheDirectory: context.settings.cacheDirectory, onBytes: createBar(progress) },
    { poolId: pool.id, name, path, bytes, sha256 },
  );
  return await session.client.getPoolFile({ params: { id: pool.id, file: fileId } });
}

/** `platform pools download`. */
export const downloadPoolFileCommand = defineCommand({
  name: "pools download",
  summary: "Download a file of a data pool",
  description: [
    "The file appears when all of it is there and has the sum that the pool names. After an interruption the same command goes on where it ended.",
    "In its own name, characters that a system forbids become _; a file that is there is not replaced then.",
  ],
  arguments: {
    pool: { description: POOL_WORD, required: true },
    file: { description: "Id or name of the file", required: true },
  },
  options: {
    output: {
      kind: "text",
      short: "o",
      placeholder: "path",
      description: "Where to store it, in place of what is there; default: its name in this folder",
    },
  },
  examples: [
    { command: "platform pools download Maps berlin52.json", comment: "Into this folder" },
    { command: "platform pools download Maps berlin52.json -o data/map.json", comment: "Elsewhere" },
  ],
  run: async (context, { arguments: { pool: wanted, file: wantedFile }, options }) => {
    const session = await openSession(context);
    const pool = await findPool(session.client, wanted);
    const file = await findFile(session.client, pool, wantedFile);
    const path = await choosePath(context.directory, file, options.output);
    await makeOutputFolder(dirname(path));
    const progress = context.output.startProgress(`Downloading ${file.name}`);
    try {
      const { signal } = context;
      await downloadFile({ session, signal, onBytes: createBar(progress) }, pool.id, { file, path });
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw createInterruption("Run the same command again: it goes on where it ended.");
    } finally {
      progress.stop();
    }
    context.output.print(`Wrote ${path}.`);
    return { json: { ...file, path }, succeeded: true };
  },
});

/** Where a file is stored. @throws UserError FILE_EXISTS */
async function choosePath(
  directory: string,
  { name }: Pick<PoolFile, "name">,
  output: string | undefined,
): Promise<string> {
  const path = resolve(directory, output ?? toSafeName(name));
  const found = await stat(path).catch(() => null);
  if (output === undefined && found !== null)
    throw new UserError("FILE_EXISTS", `${path} is there already.`, {
      hint: "Remove it, or name another path with -o.",
    });
  if (found?.isDirectory() === true || /[/\\]$/u.test(output ?? ""))
    throw new UserError("FILE_EXISTS", `${path} is a folder, and -o names the file.`, {
      hint: `Pass -o ${JSON.stringify(join(output ?? "", toSafeName(name)))} to store it there.`,
    });
  return path;
}
