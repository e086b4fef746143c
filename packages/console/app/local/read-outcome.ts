import { editJson } from "../util/edit-json.ts";
import { parseExact } from "../util/exact-json.ts";
import type { ExactValue } from "../util/exact-json.ts";

/** What became of an execution, as the local server answers it. */
export type Outcome =
  | {
      readonly kind: "result";
      /** JSON text of what `run` has returned. */
      readonly text: string;
      /** Names of the files that it has left. */
      readonly files: readonly string[];
    }
  | {
      readonly kind: "failure";
      readonly code: string;
      readonly detail: string;
      /** JSON text of its last checkpoint; null: it has made none. */
      readonly checkpoint: string | null;
    }
  /** Too large to be shown. */
  | { readonly kind: "large"; readonly bytes: number };

/** Of the answer's text: what the server adds to the members of the result is taken out, and no digit is changed. */
export function readOutcome(text: string, hasSucceeded: boolean): Outcome {
  const value = parseExact(text);
  const members = value?.kind === "object" ? value.members : new Map<string, ExactValue>();
  if (hasSucceeded) return { kind: "result", text: withoutFrame(text), files: listFiles(members) };
  return {
    kind: "failure",
    code: readText(members.get("code")),
    detail: readText(members.get("detail")),
    checkpoint: members.get("result")?.text ?? null,
  };
}

function withoutFrame(text: string): string {
  return editJson(editJson(text, ["_links"], null), ["_embedded"], null);
}

function listFiles(members: ReadonlyMap<string, ExactValue>): readonly string[] {
  const links = members.get("_links");
  return links?.kind === "object" ? [...links.members.keys()].filter((name) => name !== "status") : [];
}

/** A string as its text; any other value as JSON. */
function readText(value: ExactValue | undefined): string {
  const text = value?.text ?? '""';
  const parsed: unknown = text.startsWith('"') ? JSON.parse(text) : text;
  return typeof parsed === "string" ? parsed : text;
}
