import { MEGABYTE } from "../../base/bytes.ts";
import type { ProgressUpdate } from "../port/runtime.ts";
import { FRAME } from "../wire/frames.ts";
import { cleanText, toWellFormed } from "../wire/untrusted-text.ts";
import { scanObject } from "./json-scanner.ts";

/** Largest frames of this kind, in bytes of JSON text: the runner writes at most `MESSAGE_LIMIT` escapes of six bytes. */
export const MAX_PROGRESS_BYTES = 4096;
/** `CHECKPOINT_LIMIT` in `reporting.py`. */
export const MAX_CHECKPOINT_BYTES = MEGABYTE;

const MAX_MESSAGE_LENGTH = 500;
/** As in metadata: parsers of callers have a stack that ends. */
const CHECKPOINT_BOUNDS = { levels: 200, reserved: [] };

/** Whether a frame of this type reports something, and is no part of an answer. */
export function isReport(type: number): boolean {
  return type === FRAME.progress || type === FRAME.checkpoint;
}

/** Null for what the runner does not send, so that user code has written it. */
export function readProgress(payload: Buffer): ProgressUpdate["progress"] {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString("utf8"));
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("fraction" in value) || !("message" in value))
    return null;
  const { fraction, message } = value;
  if (typeof fraction !== "number" || !(fraction >= 0 && fraction <= 1) || typeof message !== "string")
    return null;
  return { fraction, message: cleanText(toWellFormed(message.slice(0, MAX_MESSAGE_LENGTH))) };
}

/**
 * A checkpoint as it may be stored, and shown to callers as it is: as metadata it is not parsed and written anew. Null for what the runner does
 * not send.
 */
export function readCheckpoint(payload: Buffer): Buffer | null {
  return scanObject(payload, CHECKPOINT_BOUNDS) ? payload : null;
}
