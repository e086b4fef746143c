/** Control messages between Node and a zygote: JSON objects, one per line. User code may have written what comes from a zygote. */

import { parseExactNumbers } from "@platform/contract/exact-number";
import type { ProjectKind } from "@platform/contract/project";
import { isRecord, isTextDeeperThan } from "../../base/json.ts";
import type { Isolation } from "../sandbox/sandbox.ts";
import { readCause, readDetail } from "./untrusted-text.ts";

/** The first order, once: what to import, and within which limits. */
interface BootOrder {
  readonly order: "boot";
  /** Paths as the sandbox sees them. */
  readonly project: string;
  /** The socket that children connect to. */
  readonly home: string;
  /** Folder for the temporary folders of executions that have no /tmp of their own. */
  readonly scratch: string;
  /** Paths below /tmp or /dev/shm that a private /tmp must not hide. */
  readonly keep: readonly string[];
  /** Environment variables for user code. */
  readonly variables: Readonly<Record<string, string>>;
  /** Bytes that one execution may allocate in addition to the zygote's memory. */
  readonly memory: number;
  /** How many children exist at the same time at most: what an import may take is what all of them may have. */
  readonly children: number;
  readonly isolation: Isolation;
  readonly startMode: "auto" | "spawn";
  /** Says what a project of this kind has, and ends, instead of waiting for orders; none: it waits. */
  readonly probe: ProjectKind | "none";
  /** Of an external backend: executions are told of their cancellation. */
  readonly external: boolean;
}

/**
 * What Node sends. `id` names a child in later events; `kill` sends it a signal, with SIGKILL (9) to all processes that it started. A child in
 * namespaces that does not catch SIGTERM is killed at once: as their pid 1 it would not notice.
 */
export type Order =
  | BootOrder
  | { readonly order: "fork"; readonly id: number; readonly token: string }
  | { readonly order: "kill"; readonly id: number; readonly signal: 9 | 15 };

/** A child's process has ended, by an exit code or by a signal; the other is null. Processes that it started may be left. */
export interface ExitEvent {
  readonly event: "exit";
  readonly id: number;
  readonly code: number | null;
  readonly signal: number | null;
}

/** The import failed; the zygote waits to be told to end. */
export interface FailedEvent {
  readonly event: "failed";
  readonly code: string;
  readonly detail: string;
  /** Null: there is none to show. */
  readonly traceback: string | null;
}

/** What a zygote sends, after the check of its shape. */
export type ZygoteEvent =
  /** The interpreter has started; nothing of the project is imported yet. */
  | { readonly event: "hello"; readonly pid: number }
  /** It obeys `fork` from now on; with the mode `spawn`, each child imports the project itself. */
  | { readonly event: "ready"; readonly mode: "fork" | "spawn" }
  /** The import left something that does not survive a fork; the zygote waits to be told to end. */
  | { readonly event: "unsafe"; readonly reason: string }
  | FailedEvent
  /** What the import has shown. The schemas are null when `run` has no type hints, the description for a service. */
  | {
      readonly event: "probed";
      readonly input: Record<string, unknown> | null;
      readonly output: Record<string, unknown> | null;
      readonly description: Record<string, unknown> | null;
      readonly mode: "fork" | "spawn";
      /** Why it cannot be forked, as a sentence; null when it can, or when the version asks for `spawn`. */
      readonly reason: string | null;
    }
  | ExitEvent
  /** The system refused to fork: the order has started no process. */
  | { readonly event: "refused"; readonly id: number; readonly reason: string }
  /** Nothing that the child started is left. */
  | { readonly event: "gone"; readonly id: number };

/** One line of JSON with its line break. */
export function encodeOrder(order: Order): string {
  return `${JSON.stringify(order)}\n`;
}

/** Not even an honest one that is too deep to be stored (`input-schema/bounds.ts`) comes near: Python's own JSON goes no further. */
const MAX_SCHEMA_DEPTH = 1000;

function isRecordOrNull(value: unknown): value is Record<string, unknown> | null {
  return value === null || isRecord(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value);
}

function isMode(value: unknown): value is "fork" | "spawn" {
  return value === "fork" || value === "spawn";
}

function readTextOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The event of a line; null when the line is not a valid event. What is in it may be walked by recursion. */
export function decodeEvent(line: string): ZygoteEvent | null {
  if (isTextDeeperThan(line, 1 + MAX_SCHEMA_DEPTH)) return null;
  let value: unknown;
  try {
    // Schemas keep the digits of their numbers.
    value = parseExactNumbers(line);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const name = value["event"];
  return typeof name === "string" ? (EVENT_PARSERS.get(name)?.(value) ?? null) : null;
}

type EventParser = (fields: Record<string, unknown>) => ZygoteEvent | null;

const EVENT_PARSERS: ReadonlyMap<string, EventParser> = new Map<ZygoteEvent["event"], EventParser>([
  ["hello", readHello],
  ["ready", readReady],
  ["unsafe", readUnsafe],
  ["failed", readFailed],
  ["probed", readProbed],
  ["exit", readExit],
  ["refused", readRefused],
  ["gone", readGone],
]);

function readHello({ pid }: Record<string, unknown>): ZygoteEvent | null {
  return isCount(pid) ? { event: "hello", pid } : null;
}

function readReady({ mode }: Record<string, unknown>): ZygoteEvent | null {
  return isMode(mode) ? { event: "ready", mode } : null;
}

function readUnsafe({ reason }: Record<string, unknown>): ZygoteEvent | null {
  return typeof reason === "string" ? { event: "unsafe", reason: readDetail(reason) } : null;
}

function readFailed({ code, detail, traceback }: Record<string, unknown>): ZygoteEvent | null {
  if (typeof code !== "string" || typeof detail !== "string") return null;
  return { event: "failed", ...readCause({ code, detail }), traceback: readTextOrNull(traceback) };
}

function readProbed(fields: Record<string, unknown>): ZygoteEvent | null {
  const { input, output, description, mode, reason } = fields;
  return isMode(mode) && isRecordOrNull(input) && isRecordOrNull(output) && isRecordOrNull(description)
    ? { event: "probed", input, output, description, mode, reason: readTextOrNull(reason) }
    : null;
}

function readExit({ id, code, signal }: Record<string, unknown>): ZygoteEvent | null {
  return isCount(id) && isCountOrNull(code) && isCountOrNull(signal)
    ? { event: "exit", id, code, signal }
    : null;
}

function readRefused({ id, reason }: Record<string, unknown>): ZygoteEvent | null {
  if (!isCount(id) || typeof reason !== "string") return null;
  return { event: "refused", id, reason: readDetail(reason) };
}

function readGone({ id }: Record<string, unknown>): ZygoteEvent | null {
  return isCount(id) ? { event: "gone", id } : null;
}
