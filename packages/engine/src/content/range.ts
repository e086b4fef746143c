import type { ByteRange } from "../base/byte-range.ts";

/** One range: with a first byte, or of the last bytes. */
const RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * The part that a Range header asks for (RFC 9110, section 14.2). `all`: there is no header, or it is to be ignored, as one that is malformed, of
 * another unit, or of several ranges. `none`: nothing of the content is in the range.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | "all" | "none" {
  const match = RANGE.exec(header ?? "");
  if (match === null) return "all";
  const [, first = "", last = "", suffix] = match;
  if (suffix !== undefined) {
    if (Number(suffix) === 0) return "none";
    return bytes === 0 ? "all" : { start: Math.max(0, bytes - Number(suffix)), end: bytes };
  }
  const start = Number(first);
  const end = last === "" ? bytes : Math.min(Number(last) + 1, bytes);
  if (last !== "" && Number(last) < start) return "all";
  return start < bytes ? { start, end } : "none";
}
