import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createInterruption, createUsageError } from "../base/errors.ts";
import { makeOutputFolder } from "../base/files.ts";
import { openSession } from "../base/session.ts";
import type { Session } from "../base/session.ts";
import { describeContent } from "../pools/describe-content.ts";
import { downloadContent } from "../pools/download-file.ts";
import { formatBytes } from "../pools/format-bytes.ts";
import { toSafeName } from "../pools/safe-name.ts";
import { createBar } from "../pools/transfer.ts";
import { findCallableService } from "../project/find-callable-service.ts";
import type { CallableService } from "../project/find-callable-service.ts";

/** What follows the download, in the folder into which the file is unpacked. */
const LANGUAGES = {
  java: { label: "Java", next: "mvn -q -B package" },
  python: { label: "Python", next: "pip install --no-index ." },
  javascript: { label: "JavaScript", next: "node example/example.js" },
} as const;

type Language = keyof typeof LANGUAGES;

const IS_VERSION = /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}$/u;

/** `platform clients`: the ZIP file of the details page. */
export const clientsCommand = defineCommand({
  name: "clients",
  summary: "Download a client of a service: a package that calls it",
  description: [
    "A ZIP file with a package in Java, Python or JavaScript that starts executions, waits for them and fetches their results, with types of the version's input and result, an example and a README. Equal versions have equal files.",
    "Of services that applications of the organisation can subscribe to or have subscribed to, and of its own, published or not. What is there is not replaced, and the file appears when all of it is there and has its sum.",
  ],
  arguments: { service: { description: "Name or key of the service", required: true } },
  options: {
    language: {
      kind: "text",
      short: "l",
      placeholder: "language",
      description: "Language of the client; needed",
      choices: ["java", "python", "javascript"],
    },
    version: {
      kind: "text",
      placeholder: "version",
      description: "MAJOR.MINOR.PATCH; default: the newest that is live",
    },
    output: {
      kind: "text",
      short: "o",
      placeholder: "file",
      description: "The ZIP file to write (default: <name>-<version>-<language>.zip in this folder)",
    },
  },
  examples: [
    { command: "platform clients tsp --language python", comment: "Of the newest version" },
    {
      command: "platform clients tsp --language java --version 1.0.0 -o libs/tsp.zip",
      comment: "Of another one, elsewhere",
    },
  ],
  run: async (context, { arguments: { service: wanted }, options }) => {
    const language = readLanguage(options.language);
    const given = readVersion(options.version);
    const session = await openSession(context);
    const service = await findCallableService(session.client, wanted);
    const version = given ?? requireVersion(service);
    const fileName = toSafeName(`${service.name}-${version}-${language}.zip`);
    const path = await choosePath(context.directory, options.output, fileName);
    const { bytes, sha256 } = await download(context, session, { service, version, language, path });
    const { label, next } = LANGUAGES[language];
    context.output.print(
      `Wrote ${path}: client of ${service.name} ${version} for ${label}, ${formatBytes(bytes)}.`,
    );
    context.output.print(`Next: unpack it, read its README.md, and run '${next}' there.`);
    const json = { serviceKey: service.key, service: service.name, version, language, path, bytes, sha256 };
    return { json, succeeded: true };
  },
});

function readLanguage(given: string | undefined): Language {
  if (given === undefined)
    throw createUsageError(
      "--language is needed.",
      `Choose from ${Object.keys(LANGUAGES).join(", ")}. For another language, a generator of clients takes the OpenAPI document.`,
    );
  // The interpreter lets only these pass.
  return given as Language;
}

function readVersion(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (IS_VERSION.test(given)) return given;
  throw createUsageError(
    `'${given}' is not a version.`,
    "A version has three numbers, as in 1.0.0; 'platform marketplace show' lists them.",
  );
}

function requireVersion({ name, version }: CallableService): string {
  if (version !== null) return version;
  throw new UserError("SERVICE_NOT_FOUND", `${name} has no live version.`, {
    hint: "'platform up' deploys one; --version names one that is not live any more.",
  });
}

/** @throws UserError FILE_EXISTS before anything is fetched */
async function choosePath(directory: string, output: string | undefined, fileName: string): Promise<string> {
  const path = resolve(directory, output ?? fileName);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true || /[/\\]$/u.test(output ?? ""))
    throw new UserError("FILE_EXISTS", `${path} is a folder, and -o names the file.`, {
      hint: `Pass -o ${JSON.stringify(join(output ?? "", fileName))} to store it there.`,
    });
  if (found !== null)
    throw new UserError("FILE_EXISTS", `${path} is there already.`, {
      hint: "Remove it, or name another path with -o.",
    });
  return path;
}

interface Wanted {
  readonly service: CallableService;
  readonly version: string;
  readonly language: Language;
  readonly path: string;
}

async function download(
  { output, signal }: CommandContext,
  session: Session,
  { service, version, language, path }: Wanted,
) {
  const link = `/marketplace/${encodeURIComponent(service.key)}/versions/${encodeURIComponent(version)}/clients/${language}`;
  const { label } = LANGUAGES[language];
  const progress = output.startProgress(`Making the client of ${service.name} ${version} for ${label}`);
  try {
    const content = await describeContent({ session, signal }, link, `the client for ${label}`);
    await makeOutputFolder(dirname(path));
    progress.step("Downloading it");
    await downloadContent({ session, signal, onBytes: createBar(progress) }, content, path);
    return content;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw createInterruption("Run the same command again: it goes on where it ended.");
  } finally {
    progress.stop();
  }
}
