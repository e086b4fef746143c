import { escapeUnseen, isInFile, quoteShell } from "./texts.ts";

const PARTS = [
  { part: "data", option: "--data" },
  { part: "params", option: "--params" },
] as const;

/** A start of a service as a job, as a command for a POSIX shell. What is too long for a command comes from the file that is named. */
export function toRunCommand(service: string, input: Readonly<Record<string, unknown>>): string {
  const options = PARTS.flatMap(({ part, option }) => {
    const text = JSON.stringify(input[part]) as string | undefined;
    if (text === undefined) return [];
    return [isInFile(text) ? `${option}-file ${part}.json` : `${option} ${quoteShell(escapeUnseen(text))}`];
  });
  return [`platform run ${quoteShell(service)}`, ...options].join(" \\\n  ");
}
