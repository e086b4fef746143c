import { createHash } from "node:crypto";
import type { ReceiptClaims } from "@platform/contract/receipt";
import { findResult } from "./find-result.ts";

/** Whether content that somebody has is that of a receipt. */
export interface Comparison {
  readonly what: "input" | "result";
  /** Path as it was given. */
  readonly file: string;
  /** What of the receipt it is: `input`, `result`, or the name of a file of the result. Null: nothing. */
  readonly matches: string | null;
  /** Of the bytes that were compared. */
  readonly digest: string;
  /** What the receipt says; null: nothing. */
  readonly expected: string | null;
}

/** The body of a start is compared as a whole. */
export function compareInput(claims: ReceiptClaims, file: string, bytes: Uint8Array): Comparison {
  const digest = toDigest([bytes]);
  const expected = claims.inputDigest ?? null;
  return { what: "input", file, matches: digest === expected ? "input" : null, digest, expected };
}

/** The answer of the result operation, the value of its `result` alone, or a file of the result. */
export function compareResult(claims: ReceiptClaims, file: string, bytes: Uint8Array): Comparison {
  const whole = toDigest([bytes]);
  const expected = claims.resultDigest ?? null;
  const ofFile = claims.resultFiles?.find(({ digest }) => digest === whole)?.name;
  const value = whole === expected ? null : findResult(bytes);
  const digest = value === null ? whole : toDigest(value);
  const matches = digest === expected ? "result" : (ofFile ?? null);
  return {
    what: "result",
    file,
    matches,
    digest: matches === null || digest === expected ? digest : whole,
    expected,
  };
}

function toDigest(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}
