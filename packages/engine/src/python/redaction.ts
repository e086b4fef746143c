import { ExactNumber } from "@platform/contract/exact-number";
import type { LogLine, Outcome, NotStarted, Probe, PythonRuntime } from "./port/runtime.ts";
import { MAX_CODE_LENGTH } from "./wire/untrusted-text.ts";
import { isRecord } from "../base/json.ts";
import { redactionOf } from "./wire/secret-texts.ts";
import type { Redact } from "./wire/secret-texts.ts";

/** The runtime, with the secrets of a version taken out of what its runs print and of the texts that they fail with. */
export function redactSecrets(runtime: PythonRuntime): PythonRuntime {
  return {
    ...runtime,
    run: (request) => {
      const { secrets } = request.version;
      if (secrets.length === 0) return runtime.run(request);
      const redact = redactionOf(secrets);
      const onLog = (lines: readonly LogLine[]) =>
        request.onLog(lines.map((line) => ({ ...line, message: redact(line.message) })));
      const run = runtime.run({ ...request, onLog });
      return { ...run, outcome: run.outcome.then((outcome) => redactOutcome(outcome, redact)) };
    },
    probe: async (version, ...how) => {
      const probe = await runtime.probe(version, ...how);
      return version.secrets.length === 0 ? probe : redactProbe(probe, redactionOf(version.secrets));
    },
  };
}

/** Schemas and descriptions are shown to callers, and may have values of the environment: as a default, or a choice. */
function redactProbe(probe: Probe, redact: Redact): Probe {
  if (!probe.ok) {
    const traceback = probe.traceback === null ? null : redact(probe.traceback);
    return { ...probe, ...redactCause(probe, redact), traceback };
  }
  const { inputSchema, outputSchema, description, startModeReason } = probe;
  return {
    ...probe,
    inputSchema: inputSchema === null ? null : redactTexts(inputSchema, redact),
    outputSchema: outputSchema === null ? null : redactTexts(outputSchema, redact),
    description: description === null ? null : redactTexts(description, redact),
    startModeReason: startModeReason === null ? null : redact(startModeReason),
  };
}

/** Names of members stay; a member that is a number with a secret, or a list with one, is left out: a text would not be of its type. */
function redactTexts(schema: Record<string, unknown>, redact: Redact): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .map(([name, value]) => [name, redactValue(value, redact)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** undefined: it is left out. */
function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number" || value instanceof ExactNumber) {
    const text = String(value);
    return redact(text) === text ? value : undefined;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact));
    return items.includes(undefined) ? undefined : items;
  }
  return isRecord(value) ? redactTexts(value, redact) : value;
}

function redactCause({ code, detail }: { readonly code: string; readonly detail: string }, redact: Redact) {
  return { code: redact(code, MAX_CODE_LENGTH), detail: redact(detail) };
}

function redactOutcome(outcome: Outcome | NotStarted, redact: Redact): Outcome | NotStarted {
  switch (outcome.status) {
    case "FAILED":
      return { ...outcome, ...redactCause(outcome, redact) };
    case "UNKNOWN":
    case "NOT_STARTED":
      return { ...outcome, detail: redact(outcome.detail) };
    case "SUCCEEDED":
      // What a service returns is its own to decide.
      return outcome;
    default:
      return outcome satisfies never;
  }
}
