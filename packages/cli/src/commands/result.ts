import { join, resolve } from "node:path";
import { foldName } from "@platform/contract/file-name";
import { defineCommand } from "../base/command.ts";
import type { CommandResult } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createInterruption, createUsageError } from "../base/errors.ts";
import { describeFailure, getFinalStatus } from "../jobs/job.ts";
import { readJobResult } from "../jobs/job-result.ts";
import type { JobResult } from "../jobs/job-result.ts";
import { fetchResultFiles, listResultFiles, writeResult } from "../pools/result-files.ts";
import type { FetchedFiles } from "../pools/result-files.ts";
import { openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";
import { makeOutputFolder, writeOutputFile } from "../base/files.ts";
import { formatBytes } from "../pools/format-bytes.ts";

/** `platform result`: does not wait. Fails when the job did not succeed. */
export const resultCommand = defineCommand({
  name: "result",
  summary: "Print the result of a job, or fetch it with its files",
  description: [
    "Prints the service's output as JSON, or writes it to a file. Of a job that did not succeed it is the last part that the run had kept, if it had kept any; standard error says so. With --json, prints the whole response with metadata and state.",
    "--files creates the folder and writes the output as result.json (or where -o says) and all files of the result into it. A file appears when all of it is there and has its sum; what is there with the same content stays, with another one only --force replaces it. After an interruption the same command goes on where it ended. In names, characters that a system forbids become _.",
    "The exit code is 1 if the job is not finished or did not succeed, or a file is missing: the others are there then.",
  ],
  arguments: { id: { description: "Id of the job", required: true } },
  options: {
    output: { kind: "text", short: "o", placeholder: "file", description: "Write the output to this file" },
    files: {
      kind: "text",
      placeholder: "dir",
      description: "Write the output and the files of the result into this folder",
    },
    force: { kind: "flag", description: "With --files: replace files that have another content" },
  },
  examples: [
    { command: "platform result 0198c1de-7a53-7000-8000-000000000000", comment: "Print on standard output" },
    {
      command: "platform result 0198c1de-7a53-7000-8000-000000000000 -o result.json",
      comment: "Write to a file",
    },
    {
      command: "platform result 0198c1de-7a53-7000-8000-000000000000 --files out",
      comment: "With its files",
    },
  ],
  run: async (context, { arguments: { id }, options }) => {
    if (options.force && options.files === undefined) throw createUsageError("--force is for --files.");
    const session = await openSession(context);
    const read = await readJobResult(session, id);
    const { answer, exact, stringify } = read;
    const whole = { json: exact, stringify };
    const succeeded = getFinalStatus(answer) === "SUCCEEDED";
    if (!succeeded) context.output.note(describeFailure(answer));
    if (answer.partial === true)
      context.output.note("The result is partial: it is the last that the run had kept.");
    else if (!succeeded) return { ...whole, succeeded };
    const text = stringify(exact["result"] ?? {});
    const path = options.output === undefined ? null : resolve(context.directory, options.output);
    if (succeeded && options.files !== undefined) {
      const directory = resolve(context.directory, options.files);
      return await fetchAll({ context, session, id, read }, { directory, path, force: options.force });
    }
    if (path === null) {
      context.output.print(text);
      return { ...whole, succeeded };
    }
    await writeOutputFile(path, `${text}\n`);
    context.output.print(`Wrote ${path}.`);
    return { ...(succeeded ? { json: { id, path } } : whole), succeeded };
  },
});

interface Fetched {
  readonly context: CommandContext;
  readonly session: Session;
  readonly id: string;
  readonly read: JobResult;
}

interface Target {
  readonly directory: string;
  /** Of the output; null: in the folder. */
  readonly path: string | null;
  readonly force: boolean;
}

const RESULT_NAME = "result.json";

async function fetchAll(
  { context, session, id, read }: Fetched,
  { directory, path, force }: Target,
): Promise<CommandResult> {
  const { answer, exact, stringify } = read;
  const names = listResultFiles(answer);
  if (path === null && names.some((name) => foldName(name) === RESULT_NAME))
    throw new UserError("FILE_EXISTS", `A file of the result is called ${RESULT_NAME}, as the output is.`, {
      hint: "Name a path for the output with -o.",
    });
  await makeOutputFolder(directory);
  const text = `${stringify(exact["result"] ?? {})}\n`;
  const resultPath = path ?? join(directory, RESULT_NAME);
  if (path === null) await writeResult(resultPath, text, force);
  else await writeOutputFile(resultPath, text);
  const progress = context.output.startProgress(
    `Downloading ${names.length === 1 ? "1 file" : `${names.length} files`}`,
  );
  const { signal } = context;
  let fetched: FetchedFiles;
  try {
    fetched = await fetchResultFiles({ session, signal, progress, jobId: id, directory, force }, names);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw createInterruption("Run the same command again: it goes on where it ended.");
  } finally {
    progress.stop();
  }
  report(context, resultPath, fetched);
  const { files, failed } = fetched;
  return { json: { id, path: resultPath, directory, files, failed }, succeeded: failed.length === 0 };
}

function report({ output }: CommandContext, resultPath: string, { files, failed }: FetchedFiles): void {
  output.print(resultPath);
  for (const { path, bytes, written } of files)
    output.print(`${path}  ${formatBytes(bytes)}${written ? "" : "  (was there)"}`);
  for (const { name, code, detail } of failed)
    output.note(`${output.paintNote("red", "error:")} ${name}: ${code}: ${detail}`);
}
