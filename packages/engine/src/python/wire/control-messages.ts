/** Control messages between Node and a zygote: JSON objects, one per line. User code may have written what comes from a zygote. */

import { readCause } from "../child/answers.ts";

export interface BootOrder {
  readonly order: "boot";
  /** Paths as the sandbox sees them. */
  readonly project: string;
  readonly home: string;
  readonly scratch: string;
  /** Paths below /tmp or /dev/shm that a private /tmp must not hide. */
  readonly keep: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Bytes that one execution may allocate on top of what the zygote holds. */
  readonly memory: number;
  /** Whether each child enters namespaces of its own. */
  readonly isolate: boolean;
  readonly startMode: "auto" | "spawn";
  readonly probe: boolean;
}

export type Order =
  | BootOrder
  | { readonly order: "fork"; readonly id: number; readonly token: string }
  | { readonly order: "kill"; readonly id: number; readonly signal: 9 | 15 };

export interface ExitEvent {
  readonly event: "exit";
  readonly id: number;
  readonly code: number | null;
  readonly signal: number | null;
  /** CPU seconds and peak memory in KiB, of the child itself. */
  readonly cpu: number;
  readonly rss: number;
}

export interface ProbedEvent {
  readonly event: "probed";
  readonly input: Record<string, unknown> | null;
  readonly output: Record<string, unknown> | null;
  readonly mode: "fork" | "spawn";
  /** Why it cannot be forked, as a sentence; null when it can. */
  readonly reason: string | null;
}

export interface FailedEvent {
  readonly event: "failed";
  readonly code: string;
  readonly detail: string;
  readonly traceback: string | null;
}

export type ZygoteEvent =
  | { readonly event: "hello"; readonly pid: number; readonly python: string }
  | { readonly event: "ready"; readonly mode: "fork" | "spawn" }
  | { readonly event: "unsafe"; readonly reason: string }
  | FailedEvent
  | ProbedEvent
  | ExitEvent
  /** The system refused to fork: no process came of the order. */
  | { readonly event: "refused"; readonly id: number; readonly reason: string }
  | { readonly event: "gone"; readonly id: number };

export function encodeOrder(order: Order): string {
  return `${JSON.stringify(order)}\n`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSchema(value: unknown): value is Record<string, unknown> | null {
  return value === null || isRecord(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value);
}

function readTextOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isMode(value: unknown): value is "fork" | "spawn" {
  return value === "fork" || value === "spawn";
}

/** The event of a line, or null when it is none. */
export function decodeEvent(line: string): ZygoteEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return isRecord(value) ? readEvent(value) : null;
}

function readEvent(value: Record<string, unknown>): ZygoteEvent | null {
  const { id, code, signal, cpu, rss, mode, detail, traceback, input, output, pid, python, reason } = value;
  switch (value["event"]) {
    case "hello":
      return isCount(pid) && typeof python === "string" ? { event: "hello", pid, python } : null;
    case "ready":
      return isMode(mode) ? { event: "ready", mode } : null;
    case "unsafe":
      return typeof reason === "string" ? { event: "unsafe", reason } : null;
    case "failed":
      if (typeof code !== "string" || typeof detail !== "string") return null;
      return { event: "failed", ...readCause({ code, detail }), traceback: readTextOrNull(traceback) };
    case "probed":
      return isMode(mode) && isSchema(input) && isSchema(output)
        ? { event: "probed", input, output, mode, reason: readTextOrNull(reason) }
        : null;
    case "exit":
      return isCount(id) && isCountOrNull(code) && isCountOrNull(signal) && isCount(cpu) && isCount(rss)
        ? { event: "exit", id, code, signal, cpu, rss }
        : null;
    case "refused":
      return isCount(id) && typeof reason === "string" ? { event: "refused", id, reason } : null;
    case "gone":
      return isCount(id) ? { event: "gone", id } : null;
    default:
      return null;
  }
}
