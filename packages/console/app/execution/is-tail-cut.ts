import { LOG_PAGE_BYTES } from "@platform/contract/limits";

/** Whether there may be lines before the last ones that were asked for. */
export function isTailCut(lines: readonly unknown[], asked: number): boolean {
  return lines.length >= asked || new Blob([JSON.stringify(lines)]).size >= LOG_PAGE_BYTES;
}
