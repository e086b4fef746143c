import type { LocalTry } from "@platform/contract/local-try";
import { escapeUnseen } from "@platform/contract/snippets/texts";
import { editJson } from "../util/edit-json.ts";

/** JSON text of a start with the project's example; empty objects where there is none. Its numbers are those of the files, digit by digit; what would not be seen is escaped. */
export function composeExample({ data, params }: LocalTry["example"]): string {
  const text = editJson(editJson("{}", ["data"], data ?? "{}"), ["params"], params ?? "{}");
  // What was put in stands as in its file; whatever is changed next lays all out.
  return escapeUnseen(editJson(text, [""], null));
}
