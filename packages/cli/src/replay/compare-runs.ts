import { isRecord } from "@platform/engine/base/json";
import { findResult } from "../receipts/find-result.ts";
import type { Original } from "./fetch-original.ts";
import type { Replayed } from "./run-local.ts";

/** Where two results begin to differ, with what stands there. */
export interface Difference {
  /** Of the first byte that differs. */
  readonly offset: number;
  readonly original: string;
  readonly local: string;
}

/** What a replay has shown. */
export interface RunComparison {
  /** The same status, and the same bytes of the result; of a failure, the same code. */
  readonly isIdentical: boolean;
  readonly status: { readonly original: string; readonly local: string };
  /** Of failures. */
  readonly code?: { readonly original: string; readonly local: string };
  /** Null: the results are equal, or not both are there. */
  readonly difference: Difference | null;
  /** Whether what the two were made of is the same, as far as both receipts say it. */
  readonly same: Readonly<Record<string, boolean>>;
}

/** What of the receipts is compared, by the name that is shown. */
const COMPARED = {
  version: "versionDigest",
  requirements: "requirementsDigest",
  python: "python",
  input: "inputDigest",
  isolation: "sandboxLevel",
  files: "resultFiles",
} as const;
const CONTEXT_BYTES = 40;

/** Compares an execution with its repetition. */
export function compareRuns(original: Original, local: Replayed): RunComparison {
  const status = { original: original.details.status, local: local.status };
  const code = { original: readCode(original.answer), local: readCode(local.answer) };
  const [first, second] = [
    readResult(original.answer, status.original),
    readResult(local.answer, status.local),
  ];
  const difference = first === null || second === null ? null : findDifference(first, second);
  const isSameEnd = status.original === status.local && (first !== null || code.original === code.local);
  return {
    isIdentical: isSameEnd && difference === null,
    status,
    ...(first === null || second === null ? { code } : {}),
    difference,
    same: compareClaims(original.claims, local.claims),
  };
}

function readResult(answer: Uint8Array, status: string): Uint8Array | null {
  const pieces = status === "SUCCEEDED" ? findResult(answer) : null;
  return pieces === null ? null : Buffer.concat(pieces);
}

function readCode(answer: Uint8Array): string {
  const body: unknown = JSON.parse(Buffer.from(answer).toString());
  const code = isRecord(body) ? body["code"] : undefined;
  return typeof code === "string" ? code : "";
}

function compareClaims(original: Original["claims"], local: Replayed["claims"]): RunComparison["same"] {
  const both = Object.entries(COMPARED).filter(([, claim]) => claim in original || claim in local);
  if (Object.keys(original).length === 0) return {};
  return Object.fromEntries(
    both.map(([name, claim]) => [name, JSON.stringify(original[claim]) === JSON.stringify(local[claim])]),
  );
}

/** Null: they are equal. */
export function findDifference(original: Uint8Array, local: Uint8Array): Difference | null {
  if (Buffer.compare(original, local) === 0) return null;
  const shorter = Math.min(original.byteLength, local.byteLength);
  let offset = 0;
  while (offset < shorter && original[offset] === local[offset]) offset += 1;
  const quote = (bytes: Uint8Array) => {
    const start = Math.max(0, offset - CONTEXT_BYTES);
    return Buffer.from(bytes.subarray(start, offset + CONTEXT_BYTES)).toString();
  };
  return { offset, original: quote(original), local: quote(local) };
}
