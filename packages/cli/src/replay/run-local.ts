import { isRecord } from "@platform/engine/base/json";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { UserError } from "../base/errors.ts";
import { readUnverified } from "../receipts/read-unverified.ts";

/** The same execution on this machine. */
export interface Replayed {
  readonly status: string;
  /** The answer of the result operation. */
  readonly answer: Uint8Array;
  /** What its receipt says. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** How it is run. */
export interface ReplayOptions {
  /** Of the local server, without a final slash. */
  readonly url: string;
  readonly body: Uint8Array;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const HOLD_SECONDS = 20;

/** Starts it at a local server, and waits for its end. @throws UserError REPLAY_REFUSED, WAIT_TIMEOUT */
export async function runLocal(options: ReplayOptions): Promise<Replayed> {
  const { url, body, signal } = options;
  const headers = { "content-type": "application/json" };
  const started = await fetch(`${url}/`, { method: "POST", headers, body, signal });
  const { id, code, detail } = await readObject(started);
  if (started.status !== 201)
    throw new UserError(
      "REPLAY_REFUSED",
      `The input is refused on this machine: ${String(code)}: ${String(detail)}`,
      {
        hint: "Files and data pools that the input names must lie in the folder of --pools, with the ids of the platform: 'platform pools download Maps a.json -o datapools/Maps/a.json' and 'platform pools ls Maps --json > datapools/Maps.json'.",
      },
    );
  const path = `${url}/${String(id)}`;
  const status = await waitForEnd(path, options);
  const answer = new Uint8Array(await (await fetch(`${path}/result`, { signal })).arrayBuffer());
  const receipt = await fetch(`${path}/receipt`, { signal });
  return { status, answer, claims: readUnverified(await receipt.text()) };
}

async function waitForEnd(path: string, { timeoutSeconds, signal }: ReplayOptions): Promise<string> {
  const deadline = readMonotonic() + timeoutSeconds * SECOND;
  for (;;) {
    const held = await fetch(path, { headers: { prefer: `wait=${HOLD_SECONDS}` }, signal });
    const { status, terminal } = await readObject(held);
    if (terminal === true) return String(status);
    if (readMonotonic() > deadline)
      throw new UserError(
        "WAIT_TIMEOUT",
        `The execution is still ${String(status)} after ${timeoutSeconds} s.`,
      );
  }
}

async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await response.json();
  return isRecord(body) ? body : {};
}
