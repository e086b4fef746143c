import { ftruncateSync, writeSync } from "node:fs";
import { getMessage } from "../../../base/thrown.ts";

const LOCAL_HOSTS = ["127.0.0.1 localhost service", "::1 localhost"];

/** The text of a hosts file with these lines, besides the usual ones. */
export function printHosts(lines: readonly string[]): string {
  return [...LOCAL_HOSTS, ...lines, ""].join("\n");
}

/** Writes an open hosts file anew. Never throws: a disk may be full, and the file is written again after the next look. */
export function rewriteHosts(
  descriptor: number,
  lines: readonly string[],
  onNotice: (message: string) => void,
): void {
  const text = Buffer.from(printHosts(lines));
  try {
    writeSync(descriptor, text, 0, text.length, 0);
    ftruncateSync(descriptor, text.length);
  } catch (error) {
    onNotice(`The hosts file of a version could not be written (${getMessage(error)}); it is tried again.`);
  }
}
