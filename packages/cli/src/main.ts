import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { findAsset } from "./base/assets.ts";
import { COMMAND_GROUPS } from "./commands/commands.ts";
import { createConfigFile } from "./base/config-file.ts";
import { EXIT_CODES } from "./base/errors.ts";
import { createOutput } from "./base/output.ts";
import { createPrompts } from "./base/prompts.ts";
import { runCli } from "./run-cli.ts";
import { readSettings } from "./base/settings.ts";

/** The composition root: the only module that uses the process object. */
async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const settings = readSettings();
  suppressDevelopmentWarnings(settings.isDebug);
  const ownWords = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const isJson = ownWords.includes("--json");
  const output = createOutput({
    out: createSink(process.stdout),
    err: createSink(process.stderr),
    isJson,
    noColor: settings.noColor || ownWords.includes("--no-color"),
  });
  const mayPrompt = process.stdin.isTTY && process.stdout.isTTY && !isJson;
  const exitCode = await runCli(words, {
    groups: COMMAND_GROUPS,
    version: readVersion(),
    context: {
      settings,
      config: createConfigFile(settings.configDirectory),
      output,
      prompts: mayPrompt ? createPrompts() : null,
      directory: resolve("."),
      signal: createInterruptSignal(),
      readStandardInput: () => text(process.stdin),
    },
  });
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  // Idle keep-alive connections would otherwise delay the exit.
  process.exit(exitCode);
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

function createSink(stream: NodeJS.WriteStream) {
  // A reader such as `head` may close the pipe early: this is not an error.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? EXIT_CODES.success : EXIT_CODES.failure);
  });
  return { write: (chunk: string) => void stream.write(chunk), isTerminal: stream.isTTY };
}

/** Aborts on the first SIGINT or SIGTERM, so that the command can end cleanly. The second one exits at once. */
function createInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(EXIT_CODES.interrupted);
    controller.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  return controller.signal;
}

/** Suppresses deprecation and experimental warnings of libraries and of Node.js (e.g. `fetch` in 18), which users cannot act on. */
function suppressDevelopmentWarnings(isDebug: boolean): void {
  if (isDebug) return;
  const emit = process.emitWarning.bind(process) as (...all: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const [first] = rest;
    const kind = typeof first === "object" && first !== null && "type" in first ? first.type : first;
    const name = warning instanceof Error ? warning.name : String(kind);
    if (!/Experimental|Deprecation/.test(name)) emit(warning, ...rest);
  };
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(findAsset("package.json"), "utf8"));
  const hasVersion = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return hasVersion ? String(manifest.version) : "unknown";
}

await main();
