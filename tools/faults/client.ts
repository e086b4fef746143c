import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { Caller } from "./caller.ts";
import type { History, ResultContent } from "./history.ts";
import { listStarts, listTwins } from "./schedule.ts";
import type { Order } from "./schedule.ts";

const PAUSE_MS = 60;
const WAIT_SECONDS = 3;
const SILENCE_MS = 6_000;
const CREATED = 201;
const CONFLICT = 409;
/** Of an item of a batch: no mistake of its caller. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "INTERNAL_ERROR", "RATE_LIMITED"]);
const FINAL: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "UNKNOWN"]);

/** With what a client works. Once the signal is aborted it gives up. */
export interface ClientContext {
  /** Of the service that a start belongs to. */
  readonly callerOf: (op: string) => Caller;
  readonly history: History;
  readonly signal: AbortSignal;
}

/** Something that was started: one execution, or those of a batch. */
interface Started {
  readonly executions: readonly { readonly op: string; readonly id: string }[];
  readonly cancelPath: string;
}

/** Starts what is ordered, follows it to its end, and fetches its results from every gateway. */
export async function carryOut(context: ClientContext, order: Order): Promise<void> {
  const { history, signal } = context;
  await delay(order.atMs);
  const started = await start(context, order);
  const { op, cancelAfterMs } = order;
  if (started !== null)
    await Promise.all([
      ...started.executions.map((execution) => followToEnd(context, execution, order)),
      cancelAfterMs === null
        ? null
        : delay(cancelAfterMs).then(() => cancel(context, op, started.cancelPath, order.gateway + 1)),
    ]);
  if (!signal.aborted) return;
  const what = started === null ? "its start" : started.executions.map(({ id }) => id).join(", ");
  history.add({ kind: "gave-up", op, what });
}

/** Null: there is no answer, or it gave up. Only with a key it may repeat what was not answered; what was refused it may in any case. */
async function start(context: ClientContext, order: Order): Promise<Started | null> {
  const startAt =
    order.startsAfterMs === null ? {} : { startAt: new Date(Date.now() + order.startsAfterMs).toISOString() };
  const bodies = listStarts(order).map((op) => ({ data: { op, work: order.work }, ...startAt }));
  const sent = { ...order, body: order.items === 1 ? bodies[0] : { items: bodies } };
  // All are asked to the end, but the first answer is enough to go on.
  const twins = listTwins(order).map((gateway) => sendStart(context, sent, gateway));
  const first = await Promise.any(
    twins.map(
      async (reply) => await reply.then((each) => (typeof each === "string" ? Promise.reject() : each)),
    ),
  ).catch(() => null);
  if (first !== null) return first;
  for (let gateway = order.gateway; !context.signal.aborted; gateway++) {
    const reply = await sendStart(context, sent, gateway);
    if (typeof reply !== "string") return reply;
    if (reply === "UNANSWERED" && !order.isKeyed) return null;
    await delay(PAUSE_MS);
  }
  return null;
}

type SentOrder = Order & { readonly body: unknown };

/** Started; refused, so that nothing came of it; or nobody knows. */
async function sendStart(
  { callerOf, history }: ClientContext,
  order: SentOrder,
  gateway: number,
): Promise<Started | "REFUSED" | "UNANSWERED"> {
  const { op, items, body, isKeyed } = order;
  const path = items === 1 ? "" : "batch";
  const reply = await callerOf(op).ask<StartAnswer>(gateway, "POST", path, {
    json: body,
    headers: isKeyed ? { "idempotency-key": `campaign-${op}` } : {},
  });
  if (reply.kind === "answer" && reply.status === CREATED)
    return noteStarted(history, order, {
      answer: reply.body,
      isReplay: reply.headers["idempotency-replayed"] === "true",
    });
  return noteRefused(history, order, reply);
}

/** Writes down what is known of a start that was not answered with 201. */
function noteRefused(history: History, order: Order, reply: StartReply): "REFUSED" | "UNANSWERED" {
  if (reply.kind === "silence") {
    // Nothing was sent: it is as if it had been refused.
    if (!reply.isSent) return "REFUSED";
    for (const op of listStarts(order)) history.add({ kind: "unanswered", op, why: reply.why });
    return "UNANSWERED";
  }
  const { status } = reply;
  const { code = "" } = reply.body;
  // The batch is held by a request that was cut off; it is to be sent again.
  if (status === CONFLICT && code === "CONFLICT") return "REFUSED";
  for (const op of listStarts(order))
    history.add(
      status === 500 ? { kind: "unanswered", op, why: "500" } : { kind: "refused", op, status, code },
    );
  return status === 500 ? "UNANSWERED" : "REFUSED";
}

type StartReply =
  | { readonly kind: "answer"; readonly status: number; readonly body: { readonly code?: string } }
  | { readonly kind: "silence"; readonly isSent: boolean; readonly why: string };

interface StartAnswer {
  readonly id: string;
  readonly code?: string;
  /** Of a batch. */
  readonly items?: readonly { readonly index: number; readonly id?: string; readonly code?: string }[];
}

function noteStarted(
  history: History,
  order: Order,
  { answer, isReplay }: { readonly answer: StartAnswer; readonly isReplay: boolean },
): Started {
  const { id, items } = answer;
  const ops = listStarts(order);
  const executions = [];
  for (const item of items ?? [{ index: 0, id, code: "" }]) {
    const op = ops[item.index] ?? order.op;
    if (item.id === undefined)
      history.add({ kind: "refused", op, status: toStatus(item.code), code: item.code ?? "" });
    else {
      history.add({ kind: "accepted", op, id: item.id, isReplay });
      executions.push({ op, id: item.id });
    }
  }
  return { executions, cancelPath: items === undefined ? `${id}/cancel` : `batch/${id}/cancel` };
}

/** What the start of an item alone would have been answered with. */
function toStatus(code: string | undefined): number {
  return UNAVAILABLE_CODES.has(code ?? "") ? 503 : 400;
}

async function cancel(
  { callerOf, signal }: ClientContext,
  op: string,
  path: string,
  first: number,
): Promise<void> {
  for (let gateway = first; !signal.aborted; gateway++) {
    const reply = await callerOf(op).ask(gateway, "PUT", path);
    if (reply.kind === "answer" && reply.status < 500 && reply.status !== 401) return;
    await delay(PAUSE_MS);
  }
}

/** An execution, and what started it. */
export interface Followed {
  readonly op: string;
  readonly id: string;
}

/** Follows an execution until it has ended, and fetches its result from both gateways. */
export async function followToEnd(
  context: ClientContext,
  followed: Followed,
  { follow, gateway: first }: Pick<Order, "follow" | "gateway">,
): Promise<void> {
  const { signal } = context;
  let isOver = false;
  for (let gateway = first; !isOver && !signal.aborted; gateway++) {
    isOver =
      follow === "events"
        ? await readStream(context, followed, gateway)
        : await readState(context, followed, { gateway, follow });
    if (!isOver) await delay(PAUSE_MS);
  }
  await Promise.all([0, 1].map((gateway) => fetchResult(context, followed, gateway)));
}

/** Whether it has ended. */
async function readState(
  { callerOf, history }: ClientContext,
  { op, id }: Followed,
  { gateway, follow }: { readonly gateway: number; readonly follow: "poll" | "wait" },
): Promise<boolean> {
  const caller = callerOf(op);
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
  { callerOf, history, signal }: ClientContext,
  { op, id }: Followed,
  gateway: number,
): Promise<boolean> {
  const caller = callerOf(op);
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
  readonly result?: ResultContent;
  readonly code?: string;
  readonly detail?: string;
}

/** Asks one gateway until it has the result. */
async function fetchResult(
  { callerOf, history, signal }: ClientContext,
  { op, id }: Followed,
  gateway: number,
): Promise<void> {
  const caller = callerOf(op);
  const by = caller.name(gateway);
  while (!signal.aborted) {
    const reply = await caller.ask<ResultBody>(gateway, "GET", `${id}/result`);
    if (reply.kind === "answer" && reply.status === 200) {
      const { result = null, code, detail } = reply.body;
      const text = result === null ? `${code}: ${detail}` : summarize(result);
      const run =
        result === null
          ? null
          : { op: result.op, id: result.id, nonce: result.nonce, attempt: result.attempt };
      history.add({ kind: "result", id, text, result: run, by });
      return;
    }
    if (reply.kind === "answer" && (reply.status === 404 || reply.status === 410))
      history.add({ kind: "no-result", id, code: reply.body.code ?? String(reply.status), by });
    await delay(PAUSE_MS);
  }
}

/** The run that it names, and a digest of all of it. */
function summarize(result: ResultContent): string {
  const digest = createHash("sha256").update(JSON.stringify(result)).digest("hex").slice(0, 16);
  return `${result.op} ${result.nonce} ${digest}`;
}
