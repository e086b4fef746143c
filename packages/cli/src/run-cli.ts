import { CommanderError } from "commander";
import { getMessage } from "@platform/engine/base/thrown";
import type { Command, CommandGroup, CommandResult } from "./base/command.ts";
import type { CommandContext } from "./base/context.ts";
import { EXIT_CODES, UserError } from "./base/errors.ts";
import type { ExitCode } from "./base/errors.ts";
import { explainError } from "./base/explain-error.ts";
import { explainProjectError } from "./commands/explain-project-error.ts";
import { chooseDefaults, createProgram, dropHelpOfUnknown, isHelpOrVersion } from "./interpret.ts";
import type { Output } from "./base/output.ts";
import { cleanText } from "./base/output.ts";
import { findEndpoint } from "./base/session.ts";

/** What a run of the CLI depends on besides the command line. */
export interface CliOptions {
  readonly groups: readonly CommandGroup[];
  /** Printed by `--version`. */
  readonly version: string;
  readonly context: CommandContext;
}

/**
 * Runs one command line and returns the exit code. Never throws: errors are printed on standard error, and with `--json` also as
 * `{"error": {code, detail, ...}}` on standard output, which therefore always has exactly one JSON value.
 */
export async function runCli(words: readonly string[], options: CliOptions): Promise<ExitCode> {
  const { context } = options;
  const { output } = context;
  let exitCode: ExitCode = EXIT_CODES.success;
  const usage: string[] = [];
  let running: Command | null = null;
  const groups = chooseDefaults(options.groups, words);
  const program = createProgram({
    groups,
    version: options.version,
    writeOut: (text) => output.write(text),
    writeErr: (text) => usage.push(text),
    execute: async (command, input) => {
      running = command;
      const result = await command.run(context, input);
      printJson(output, result);
      if (!result.succeeded) exitCode = EXIT_CODES.failure;
      return result;
    },
  });
  try {
    await program.parseAsync(dropHelpOfUnknown(program, words, { groups }), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError))
      return reportError(error, context, findListCommand(options.groups, running));
    if (isHelpOrVersion(error)) return EXIT_CODES.success;
    reportUsage(usage.join("").trimEnd() || error.message, output);
    return EXIT_CODES.usage;
  }
}

function printJson(output: Output, result: CommandResult): void {
  if (!output.isJson || result.json === undefined) return;
  const stringify = result.stringify ?? ((json: unknown) => JSON.stringify(json, null, 2));
  output.write(`${stringify(result.json)}\n`);
}

function reportUsage(text: string, output: Output): void {
  output.note(text);
  const [detail = "", ...advice] = text.replace(/^error: /, "").split("\n");
  // Without a command the text is the help, which is no advice.
  const hint = text.startsWith("error: ") && advice.length > 0 ? { hint: advice.join(" ") } : {};
  printError(output, { code: "USAGE", detail, ...hint });
}

/** How the things that a command is about are listed: `platform keys ls <application>` for `keys rm`. */
function findListCommand(groups: readonly CommandGroup[], running: Command | null): string | undefined {
  const name = `${running?.name.split(" ")[0]} ls`;
  const list = groups.flatMap(({ commands }) => commands).find((command) => command.name === name);
  if (list === undefined || list === running) return undefined;
  const required = Object.entries(list.arguments).filter(([, argument]) => argument.required);
  return ["platform", name, ...required.map(([argument]) => `<${argument}>`)].join(" ");
}

async function reportError(
  error: unknown,
  context: CommandContext,
  listCommand: string | undefined,
): Promise<ExitCode> {
  const { output, settings } = context;
  const endpoint = await findEndpointForMessage(context);
  const explained =
    explainError(error, {
      endpoint,
      isInterrupted: context.signal.aborted,
      ...(settings.personalAccessToken === undefined ? {} : { tokenFrom: "variable" }),
      listCommand,
    }) ??
    explainProjectError(error) ??
    createBugError(error);
  output.note(`${output.paintNote("red", "error:")} ${cleanText(explained.message)}`);
  // The platform's text of a few invalid fields names them all.
  for (const detail of explained.details.filter((line) => !explained.message.includes(line)))
    output.note(`  - ${cleanText(detail)}`);
  if (explained.hint !== undefined) output.note(cleanText(explained.hint));
  if (settings.isDebug) output.note(formatStack(error));
  printError(output, {
    code: explained.code,
    detail: explained.message,
    ...(explained.details.length === 0 ? {} : { errors: explained.details }),
    ...(explained.hint === undefined ? {} : { hint: explained.hint }),
  });
  return explained.exitCode;
}

/** The error may be that the stored login cannot be read: the endpoint is then unknown. */
async function findEndpointForMessage(context: CommandContext): Promise<string> {
  try {
    return findEndpoint(context.settings, await context.config.read());
  } catch {
    return "the endpoint";
  }
}

function createBugError(error: unknown): UserError {
  const message = getMessage(error);
  return new UserError("INTERNAL_ERROR", `Internal error: ${message}`, {
    cause: error,
    hint: "This is a bug in the CLI. Please report it with the stack trace that PLATFORM_DEBUG=1 shows.",
  });
}

function formatStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${formatStack(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

function printError(output: Output, error: Readonly<Record<string, unknown>>): void {
  if (output.isJson && !output.hasWritten()) output.write(`${JSON.stringify({ error }, null, 2)}\n`);
}
