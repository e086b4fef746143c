import type { LogLine, Outcome, NotStarted, PythonRuntime } from "./port/runtime.ts";

/** Stands where a secret was. */
const REPLACEMENT = "[secret]";
/** Shorter parts of a value are left: they would be found everywhere. */
const LEAST_LENGTH = 6;

/** Replaces each secret in a text. */
export type Redact = (text: string) => string;

/** How the end of a line that was too long is written (child/log-splitter.ts). */
const CUT = / \[line cut: \d+ bytes\]$/u;
// oxlint-disable-next-line no-control-regex -- a log has none of them, so a value is looked for between them
const CONTROLS = /[\u0000-\u001F\u007F-\u009F]+/u;

/**
 * Finds the values as they are, piece by piece where a value has several lines (a log has one at a time), and as JSON and `repr` write
 * them. What a program encodes otherwise is not found.
 */
export function createRedaction(values: readonly string[]): Redact {
  const wanted = new Set<string>();
  for (const value of values)
    for (const part of [value, ...value.split(CONTROLS)]) {
      const text = part.trim();
      if (text.length < LEAST_LENGTH) continue;
      wanted.add(text);
      wanted.add(JSON.stringify(text).slice(1, -1));
      wanted.add(text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n"));
    }
  // The longest first: one that is part of another must not leave the rest of it.
  const parts = [...wanted].toSorted((a, b) => b.length - a.length);
  if (parts.length === 0) return (text) => text;
  const pattern = new RegExp(parts.map(escapePattern).join("|"), "gu");
  return (text) => redactEnd(text, parts).replace(pattern, REPLACEMENT);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

/** A line that was cut may end within a value. */
function redactEnd(text: string, parts: readonly string[]): string {
  const note = CUT.exec(text)?.[0];
  if (note === undefined) return text;
  const head = text.slice(0, -note.length);
  for (const part of parts)
    for (let length = part.length; length >= LEAST_LENGTH; length--)
      if (head.endsWith(part.slice(0, length))) return `${head.slice(0, -length)}${REPLACEMENT}${note}`;
  return text;
}

/** The runtime, with the secrets of a version taken out of what its runs print and of the texts that they fail with. */
export function redactSecrets(runtime: PythonRuntime): PythonRuntime {
  return {
    ...runtime,
    run: (request) => {
      const { secrets } = request.version;
      if (secrets.length === 0) return runtime.run(request);
      const redact = createRedaction(secrets);
      const onLog = (lines: readonly LogLine[]) =>
        request.onLog(lines.map((line) => ({ ...line, message: redact(line.message) })));
      const run = runtime.run({ ...request, onLog });
      return { ...run, outcome: run.outcome.then((outcome) => redactOutcome(outcome, redact)) };
    },
    probe: async (version) => {
      const probe = await runtime.probe(version);
      if (probe.ok || version.secrets.length === 0) return probe;
      const redact = createRedaction(version.secrets);
      const traceback = probe.traceback === null ? null : redact(probe.traceback);
      return { ...probe, code: redact(probe.code), detail: redact(probe.detail), traceback };
    },
  };
}

function redactOutcome(outcome: Outcome | NotStarted, redact: Redact): Outcome | NotStarted {
  switch (outcome.status) {
    case "FAILED":
      return { ...outcome, code: redact(outcome.code), detail: redact(outcome.detail) };
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
