import { isRecord } from "@platform/engine/base/json";
import type { Answer } from "./check.ts";

/** A member of the body; undefined: the body has none, or is no object. */
export function readMember({ json }: Answer, name: string): unknown {
  return isRecord(json) ? json[name] : undefined;
}

/** The same as a text; "": it is none. */
export function readText(answer: Answer, name: string): string {
  const value = readMember(answer, name);
  return typeof value === "string" ? value : "";
}

/** Whether the state in the body is final. */
export function isTerminal(answer: Answer): boolean {
  return readMember(answer, "terminal") === true;
}
