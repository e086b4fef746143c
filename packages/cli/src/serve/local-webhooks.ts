import { isFinal } from "@platform/contract/execution";
import type { Logger } from "@platform/engine/base/logger";
import { SECOND } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { StartWebhooks } from "@platform/engine/executions/start-webhooks";
import type { ExecutionRecord, ExecutionStore, NewExecution } from "@platform/engine/store/execution-store";
import { describeChange } from "@platform/engine/webhooks/message";
import { sendWebhook } from "@platform/engine/webhooks/send-webhook";
import type { WebhookAnswer, WebhookSender } from "@platform/engine/webhooks/send-webhook";
import { signMessage } from "@platform/engine/webhooks/sign";
import { LOCAL_SERVICE, LOCAL_VERSION } from "./local-service.ts";

/*
 * The URLs that starts name are told the ends of their executions while the server runs. All is in memory: a URL is kept from before its
 * execution is created until this ends; then there is a message, which is `due`, `called` or `paused` until it is delivered or given up.
 */

/** Calls at the same time, and of them to one origin: one that hangs delays no other. */
const AT_ONCE = { all: 16, origin: 4 } as const;
/** Messages that are not delivered yet; what ends beyond is told to nobody, and the log says so. */
const MOST_WAITING = 1_000;
/** Before the second try and those after it. Milliseconds. */
const PAUSES_MS = [1 * SECOND, 5 * SECOND, 15 * SECOND];
/** As on the platform. Milliseconds. */
const TIMEOUT_MS = 15 * SECOND;
/** HTTP: the receiver wants no more messages (Standard Webhooks). */
const GONE = 410;

/** What messages are signed and sent with. */
export interface LocalWebhooksOptions {
  readonly secret: string;
  readonly isAllowed: WebhookSender["isAllowed"];
  readonly logger: Pick<Logger, "warn">;
  /** Default `PAUSES_MS`. */
  readonly pausesMs?: readonly number[];
}

/** Tells the URLs that starts name what becomes of their executions. */
export interface LocalWebhooks {
  /** For starts and rehearsals: they may name URLs. */
  readonly starts: StartWebhooks;
  /** Wraps a store so that the URLs of what it creates are kept. */
  readonly wrapStore: (store: ExecutionStore) => ExecutionStore;
  /** Is to be given each state of each execution of the store, as `createMemoryStore` does. */
  readonly notice: (record: ExecutionRecord) => void;
  /** Ends the calls that are under way. What is not delivered by then is lost, and the log has its number. */
  readonly close: () => Promise<void>;
}

interface LocalMessage {
  /** The same for each try. */
  readonly id: string;
  readonly executionId: string;
  readonly url: string;
  /** All of the URL that is logged: the rest may have secrets. */
  readonly origin: string;
  readonly body: string;
  tries: number;
  state: "due" | "called" | "paused";
}

interface State {
  readonly options: LocalWebhooksOptions;
  readonly sender: WebhookSender;
  readonly stopping: AbortController;
  /** By the ids of executions that have not ended. */
  readonly urls: Map<string, string>;
  /** Oldest first. */
  readonly messages: Set<LocalMessage>;
  readonly calls: Map<LocalMessage, Promise<void>>;
  readonly pauses: Set<NodeJS.Timeout>;
}

/** Has nothing to tell at first. */
export function createLocalWebhooks(options: LocalWebhooksOptions): LocalWebhooks {
  const state: State = {
    options,
    sender: { isAllowed: options.isAllowed, timeoutMs: TIMEOUT_MS },
    stopping: new AbortController(),
    urls: new Map(),
    messages: new Set(),
    calls: new Map(),
    pauses: new Set(),
  };
  return {
    // The secret is there from the beginning.
    starts: { prepare: async () => undefined },
    wrapStore: (store) => ({ ...store, create: (execution) => create(state, store, execution) }),
    notice: (record) => notice(state, record),
    close: () => close(state),
  };
}

async function create(
  { urls }: State,
  store: ExecutionStore,
  execution: NewExecution,
): Promise<ExecutionRecord> {
  const { id, webhookUrl } = execution;
  if (webhookUrl === undefined) return await store.create(execution);
  // Before it is created: it may end before the store has answered.
  urls.set(id, webhookUrl);
  try {
    const record = await store.create(execution);
    // An earlier start with the same key has created another, or an item of a batch was created again after its end: nothing follows.
    if (record.id !== id || isFinal(record.status)) urls.delete(id);
    return record;
  } catch (error) {
    urls.delete(id);
    throw error;
  }
}

function notice(state: State, { id, status, failure, endedAt }: ExecutionRecord): void {
  const url = state.urls.get(id);
  if (url === undefined || !isFinal(status)) return;
  state.urls.delete(id);
  const { origin } = new URL(url);
  if (state.messages.size >= MOST_WAITING) {
    warn(state, { executionId: id, origin }, `is not told: ${MOST_WAITING} messages wait already`);
    return;
  }
  const { body } = describeChange({
    executionId: id,
    status,
    code: failure?.code ?? null,
    serviceKey: LOCAL_SERVICE.key,
    version: LOCAL_VERSION,
    subscriptionId: null,
    at: endedAt ?? Date.now(),
  });
  state.messages.add({ id: createUuidV7(), executionId: id, url, origin, body, tries: 0, state: "due" });
  callDue(state);
}

/** Calls as many as may be called at one time. */
function callDue(state: State): void {
  const { messages, calls, stopping } = state;
  for (const message of messages) {
    if (stopping.signal.aborted || calls.size >= AT_ONCE.all) return;
    if (message.state !== "due" || countCalls(state, message.origin) >= AT_ONCE.origin) continue;
    message.state = "called";
    const call = tell(state, message).finally(() => {
      calls.delete(message);
      callDue(state);
    });
    calls.set(message, call);
  }
}

function countCalls({ calls }: State, origin: string): number {
  return [...calls.keys()].filter((message) => message.origin === origin).length;
}

/** Calls once, and decides what becomes of the message. */
async function tell(state: State, message: LocalMessage): Promise<void> {
  const { options, sender, stopping, messages } = state;
  const { secret, pausesMs = PAUSES_MS } = options;
  const { id, url, body } = message;
  const headers = signMessage([secret], { id, timestamp: Math.floor(Date.now() / SECOND), body });
  const answer = await sendWebhook({ url, body, headers }, sender, stopping.signal);
  // It stays among those that are not delivered.
  if (stopping.signal.aborted && answer.status === null) return;
  message.tries += 1;
  const pauseMs = isReceived(answer) || answer.status === GONE ? undefined : pausesMs[message.tries - 1];
  if (pauseMs === undefined) messages.delete(message);
  else pause(state, message, pauseMs);
  if (isReceived(answer)) return;
  const reason = answer.failure ?? `It answered ${answer.status}.`;
  const next = pauseMs === undefined ? "Given up" : `Tried again in ${pauseMs / SECOND} s`;
  warn(state, message, `was not told. ${reason} ${next} (try ${message.tries} of ${pausesMs.length + 1}).`);
}

function isReceived({ status }: Pick<WebhookAnswer, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

function pause(state: State, message: LocalMessage, pauseMs: number): void {
  message.state = "paused";
  const timer = setTimeout(() => {
    state.pauses.delete(timer);
    message.state = "due";
    callDue(state);
  }, pauseMs);
  state.pauses.add(timer);
}

function warn(
  { options }: State,
  { executionId, origin }: Pick<LocalMessage, "executionId" | "origin">,
  text: string,
): void {
  options.logger.warn({ executionId, origin }, `webhook of ${executionId} at ${origin} ${text}`);
}

async function close(state: State): Promise<void> {
  const { options, messages, calls, pauses, stopping } = state;
  stopping.abort();
  for (const timer of pauses) clearTimeout(timer);
  await Promise.all(calls.values());
  if (messages.size > 0)
    options.logger.warn({}, `the server stopped before ${messages.size} messages to webhooks were delivered`);
}
