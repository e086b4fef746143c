import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { Caller } from "./caller.ts";
import type { History } from "./history.ts";
import type { Order } from "./schedule.ts";

const PAUSE_MS = 60;
const WAIT_SECONDS = 3;
const SILENCE_MS = 6_000;
const CREATED = 201;
const FINAL: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "UNKNOWN"]);

/** With what a client works. Once the signal is aborted it gives up. */
export interface ClientContext {
  readonly caller: Caller;
  readonly history: History;
  readonly signal: AbortSignal;
}

/** Starts one execution as ordered, follows it to its end, and fetches its result from every gateway. */
export async function carryOut(context: ClientContext, order: Order): Promise<void> {
  const { history, signal } = context;
  await delay(order.atMs);
  const id = await start(context, order);
  const { op, cancelAfterMs } = order;
  if (id !== null)
    await Promise.all([
      followToEnd(context, id, order),
      cancelAfterMs === null ? null : delay(cancelAfterMs).then(() => cancel(context, id, order.gateway + 1)),
    ]);
  if (signal.aborted) history.add({ kind: "gave-up", op, what: id === null ? "its start" : id });
}

/** Null: there is no answer, or it gave up. Only with a key it may repeat what was not answered; what was refused it may in any case. */
async function start({ caller, history, signal }: ClientContext, order: Order): Promise<string | null> {
  const { op, work, isKeyed } = order;
  for (let gateway = order.gateway; !signal.aborted; gateway++) {
    const reply = await caller.ask<{ id: string; code?: string }>(gateway, "POST", "", {
      json: { data: { op, work } },
      headers: isKeyed ? { "idempotency-key": `campaign-${op}` } : {},
    });
    if (reply.kind === "answer" && reply.status === CREATED) {
      const isReplay = reply.headers["idempotency-replayed"] === "true";
      history.add({ kind: "accepted", op, id: reply.body.id, isReplay });
      return reply.body.id;
    }
    const isRefused = reply.kind === "answer" && reply.status !== 500;
    if (isRefused) history.add({ kind: "refused", op, status: reply.status, code: reply.body.code ?? "" });
    else if (reply.kind === "answer" || reply.isSent) {
      history.add({ kind: "unanswered", op, why: reply.kind === "answer" ? "500" : reply.why });
      if (!isKeyed) return null;
    }
    await delay(PAUSE_MS);
  }
  return null;
}

async function cancel({ caller, signal }: ClientContext, id: string, first: number): Promise<void> {
  for (let gateway = first; !signal.aborted; gateway++) {
    const reply = await caller.ask(gateway, "PUT", `${id}/cancel`);
    if (reply.kind === "answer" && reply.status < 500 && reply.status !== 401) return;
    await delay(PAUSE_MS);
  }
}

/** Follows an execution until it has ended, and fetches its result from both gateways. */
export async function followToEnd(
  context: ClientContext,
  id: string,
  { follow, gateway: first }: Pick<Order, "follow" | "gateway">,
): Promise<void> {
  const { signal } = context;
  let isOver = false;
  for (let gateway = first; !isOver && !signal.aborted; gateway++) {
    isOver =
      follow === "events"
        ? await readStream(context, id, gateway)
        : await readState(context, id, gateway, follow);
    if (!isOver) await delay(PAUSE_MS);
  }
  await Promise.all([0, 1].map((gateway) => fetchResult(context, id, gateway)));
}

/** Whether it has ended. */
async function readState(
  { caller, history }: ClientContext,
  id: string,
  gateway: number,
  follow: "poll" | "wait",
): Promise<boolean> {
  const by = caller.name(gateway);
  const reply = await caller.ask<{ status: ExecutionStatus; code?: string }>(gateway, "GET", id, {
    headers: follow === "wait" ? { prefer: `wait=${WAIT_SECONDS}` } : {},
    withinMs: SILENCE_MS,
  });
  if (reply.kind === "silence") return false;
  if (reply.status === 404 || reply.status === 410)
    history.add({ kind: "absent", id, code: reply.body.code ?? String(reply.status), by });
  if (reply.status !== 200) return false;
  history.add({ kind: "state", id, status: reply.body.status, by });
  return FINAL.has(reply.body.status);
}

async function readStream(
  { caller, history, signal }: ClientContext,
  id: string,
  gateway: number,
): Promise<boolean> {
  const by = caller.name(gateway);
  let isOver = false;
  try {
    // A process that is stopped, or whose machine is gone, sends nothing any more.
    const options = { signal, withinMs: SILENCE_MS };
    const { status } = await caller.follow(gateway, `${id}/events`, options, async (events) => {
      for await (const { event, data } of events) {
        if (event !== "state") continue;
        const { status } = JSON.parse(data) as { status: ExecutionStatus };
        history.add({ kind: "state", id, status, by });
        isOver = FINAL.has(status);
        if (isOver) return;
      }
    });
    if (status === 404) history.add({ kind: "absent", id, code: "404 of its stream", by });
  } catch {
    // It broke; the next gateway is asked.
  }
  return isOver;
}

/** What the program of the campaign returns, and what is said of a failure. */
interface ResultBody {
  readonly result?: { readonly op: string; readonly id: string; readonly nonce: string };
  readonly code?: string;
  readonly detail?: string;
}

/** Asks one gateway until it has the result. */
export async function fetchResult(
  { caller, history, signal }: ClientContext,
  id: string,
  gateway: number,
): Promise<void> {
  const by = caller.name(gateway);
  while (!signal.aborted) {
    const reply = await caller.ask<ResultBody>(gateway, "GET", `${id}/result`);
    if (reply.kind === "answer" && reply.status === 200) {
      const { result = null, code, detail } = reply.body;
      const text = result === null ? `${code}: ${detail}` : summarize(result);
      const run = result === null ? null : { op: result.op, id: result.id, nonce: result.nonce };
      history.add({ kind: "result", id, text, result: run, by });
      return;
    }
    if (reply.kind === "answer" && (reply.status === 404 || reply.status === 410))
      history.add({ kind: "no-result", id, code: reply.body.code ?? String(reply.status), by });
    await delay(PAUSE_MS);
  }
}

/** The run that it names, and a digest of all of it. */
function summarize(result: Readonly<Record<string, unknown>>): string {
  const digest = createHash("sha256").update(JSON.stringify(result)).digest("hex").slice(0, 16);
  return `${String(result["op"])} ${String(result["nonce"])} ${digest}`;
}
