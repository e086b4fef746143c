import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { buildStartBody } from "../jobs/job-input.ts";
import type { CheckResult } from "../conformance/run-checks.ts";

const DEFAULT_TIMEOUT = 120;
const LONGEST_TIMEOUT = 24 * 60 * 60;
const WIDTH = 20;

/** `platform check`: whether a server keeps the promises of the service API. */
export const checkCommand = defineCommand({
  name: "check",
  summary: "Check whether a server keeps the promises of the service API",
  description: [
    "Sends about 50 requests to an endpoint, local or hosted, and compares the answers with the service API: start, state, waiting, result, log, list, receipt, cancel, keys, rehearsal, events, batches, and how bad requests are refused. Prints each promise with ok, differs (and how) or skipped.",
    "It starts five executions with the given input, and cancels those that it does not wait for. Without --data and --data-file, the input is input/data.json, and {} if that file does not exist; params likewise.",
    "The exit code is 0 if nothing differs. Where no server can be reached, it says so and stops.",
  ],
  arguments: {
    url: { description: "Endpoint URL, for example http://localhost:8081", required: true },
  },
  options: {
    token: { kind: "text", placeholder: "token", description: "Access token of an application" },
    data: { kind: "text", short: "d", placeholder: "json", description: "Input data as a JSON object" },
    params: { kind: "text", short: "p", placeholder: "json", description: "Parameters as a JSON object" },
    dataFile: {
      kind: "text",
      placeholder: "file",
      description: "File with the input data (default: input/data.json)",
    },
    paramsFile: {
      kind: "text",
      placeholder: "file",
      description: "File with the parameters (default: input/params.json)",
    },
    timeout: {
      kind: "number",
      placeholder: "seconds",
      description: "How long one execution may take",
      default: DEFAULT_TIMEOUT,
      minimum: 1,
      maximum: LONGEST_TIMEOUT,
    },
  },
  exclusive: [
    ["data", "dataFile"],
    ["params", "paramsFile"],
  ],
  examples: [
    { command: "platform check http://localhost:8081", comment: "What 'platform serve' serves" },
    {
      command: 'platform check "$ENDPOINT" --token "$TOKEN" --json',
      comment: "A deployed service, for a script",
    },
  ],
  run: async (context, { arguments: given, options }) => {
    const url = readUrl(given.url);
    const { json: body } = await buildStartBody(context, options);
    const { runChecks } = await import("../conformance/run-checks.ts");
    const results = await runChecks(
      {
        url,
        body,
        timeoutSeconds: options.timeout,
        signal: context.signal,
        ...(options.token === undefined ? {} : { token: options.token }),
      },
      (result) => printResult(context, result),
    );
    const count = (outcome: CheckResult["outcome"]) =>
      results.filter((result) => result.outcome === outcome).length;
    const counts = { ok: count("ok"), differs: count("differs"), skipped: count("skipped") };
    context.output.print(`${counts.ok} ok, ${counts.differs} differ, ${counts.skipped} skipped`);
    return { json: { url, ...counts, checks: results }, succeeded: counts.differs === 0 };
  },
});

/** Without a final slash. @throws UserError USAGE */
function readUrl(text: string): string {
  const hint = "Example: platform check http://localhost:8081";
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw createUsageError(`'${text}' is not a URL.`, hint);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw createUsageError(`'${text}' is neither http nor https.`, hint);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function printResult({ output }: CommandContext, { name, says, outcome, difference }: CheckResult): void {
  const style = { ok: "green", differs: "red", skipped: "dim" } as const;
  output.print(`${output.paint(style[outcome], outcome.padEnd(8))} ${name.padEnd(WIDTH)} ${says}`);
  if (difference !== undefined) output.print(`         ${cleanText(difference)}`);
}
