/**
 * `node bench/service-api.ts`: what the service API costs beyond polling. A start with an Idempotency-Key next to a plain one, in turns; the
 * memory of 1,000 open streams of events and 5,000 long polls, and what they do to the starts of others; and after how long an event arrives,
 * at the gateway that has made the change and at another one.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, request as sendRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { argv, stdout } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { createDeferred } from "@platform/engine/base/deferred";
import { createWorld } from "../tests/support/world.ts";
import type { Consumer, World } from "../tests/support/world.ts";
import { createHttpClient, measure, round, summarize } from "./load.ts";
import type { Figures, HttpClient } from "./load.ts";
import { median, report } from "./report.ts";

const ROUNDS = 7;
const STARTS = 4_000;
const CONCURRENT = 32;
const STREAMS = 1_000;
const POLLS = 5_000;
/** So many connections are opened at a time. */
const OPENED_AT_ONCE = 50;
const EVENTS = 200;
const SETTLE_MS = 3_000;
const MOST_TIMES_KEYED = 1.2;
const MOST_MB = 150;
const MOST_TIMES_STARTS = 3;
const MOST_MS_EVENT = 10;

/** A caller with a connection for each request that is under way. */
interface Caller {
  readonly consumer: Consumer;
  readonly client: HttpClient;
}

async function start(
  { consumer, client }: Caller,
  headers?: Readonly<Record<string, string>>,
): Promise<string> {
  const { status, body } = await client.send("POST", consumer.endpoint, "{}", headers);
  if (status !== 201) throw new Error(`a start was answered with ${status}: ${body}`);
  return (JSON.parse(body) as { readonly id: string }).id;
}

const measureStarts = (caller: Caller): Promise<Figures> =>
  measure(STARTS, CONCURRENT, async () => {
    await start(caller);
  });

async function measureKeyed(caller: Caller): Promise<void> {
  const ratios: { readonly rate: number; readonly p50: number }[] = [];
  await measureStarts(caller);
  for (let turn = 0; turn < ROUNDS; turn++) {
    const plain = await measureStarts(caller);
    const keyed = await measure(STARTS, CONCURRENT, async (number) => {
      await start(caller, { "idempotency-key": `${turn}-${number}` });
    });
    ratios.push({ rate: plain.perSecond / keyed.perSecond, p50: keyed.p50 / plain.p50 });
    stdout.write(`       starts a second: ${plain.perSecond} plain, ${keyed.perSecond} with a key\n`);
  }
  const times = median(ratios.map(({ rate }) => rate));
  report("time of a start with a key, times a plain one, 32 at a time", times, { atMost: MOST_TIMES_KEYED });
}

/** Resident memory of the process, in MB. */
async function readMemory({ platform }: World): Promise<number> {
  const status = await readFile(`/proc/${platform.process.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** The median of the p99 of some runs, in milliseconds: one collection of garbage decides a single one. */
async function measureWorst(caller: Caller): Promise<number> {
  const worst: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) worst.push((await measureStarts(caller)).p99);
  return median(worst);
}

/** The open requests; each answer is read as it comes. */
async function openAll(
  count: number,
  open: (number: number) => Promise<ClientRequest>,
): Promise<ClientRequest[]> {
  const opened: ClientRequest[] = [];
  for (let from = 0; from < count; from += OPENED_AT_ONCE) {
    const numbers = Array.from(
      { length: Math.min(OPENED_AT_ONCE, count - from) },
      (_, index) => from + index,
    );
    opened.push(...(await Promise.all(numbers.map(open))));
  }
  return opened;
}

interface Opening {
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  /** Missing: the request is sent, and its answer is not waited for. */
  readonly onAnswer?: (answer: IncomingMessage) => void;
}

async function openRequest(url: string, { agent, headers, onAnswer }: Opening): Promise<ClientRequest> {
  const request = sendRequest(url, { agent, headers });
  request.end();
  if (onAnswer === undefined) {
    request.on("response", (answer) => answer.resume());
    await once(request, "finish");
    return request;
  }
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
  answer.resume();
  onAnswer(answer);
  return request;
}

async function measureOpen(world: World, caller: Caller, ids: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const { endpoint, token } = caller.consumer;
  const headers = { authorization: `Bearer ${token}` };
  const urlOf = (number: number) => `${endpoint}${ids[number % ids.length] ?? ""}`;
  // Before any load: what is free in a heap that has grown would hide what they take.
  const before = await readMemory(world);
  const streams = await openAll(STREAMS, (number) =>
    openRequest(`${urlOf(number)}/events`, {
      agent,
      headers: { ...headers, accept: "text/event-stream" },
      onAnswer: () => undefined,
    }),
  );
  const polls = await openAll(POLLS, (number) =>
    openRequest(urlOf(number), { agent, headers: { ...headers, prefer: "wait=60" } }),
  );
  await delay(SETTLE_MS);
  const memory = (await readMemory(world)) - before;
  await measureStarts(caller);
  const beside = await measureWorst(caller);
  for (const request of [...streams, ...polls]) request.on("error", () => undefined).destroy();
  agent.destroy();
  await delay(SETTLE_MS);
  const alone = await measureWorst(caller);
  stdout.write(
    `       start p99 ${alone} ms alone, ${beside} ms beside; memory before ${round(before)} MB\n`,
  );
  report("memory of 1,000 streams and 5,000 long polls, MB", memory, { atMost: MOST_MB });
  const times = beside / alone;
  report("p99 of a start beside them, times alone", times, { atMost: MOST_TIMES_STARTS });
}

/** Milliseconds from the answer to a cancellation, which is sent after the commit, to the event of it. */
async function measureDelivery(caller: Caller, origin: string): Promise<Figures> {
  const agent = new Agent({ keepAlive: false });
  const { endpoint, token } = caller.consumer;
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const times: number[] = [];
  for (let number = 0; number < EVENTS; number++) {
    const id = await start(caller);
    const { promise: arrived, resolve: note } = createDeferred<number>();
    const url = `${origin}${new URL(endpoint).pathname}${id}/events`;
    let text = "";
    const stream = await openRequest(url, {
      agent,
      headers,
      onAnswer: (answer) =>
        answer.on("data", (chunk: Buffer) => {
          text += chunk.toString();
          if (text.includes("CANCELLED") || text.includes("FAILED")) note(performance.now());
        }),
    });
    await delay(20);
    await caller.client.send("PUT", `${endpoint}${id}/cancel`);
    const answered = performance.now();
    times.push(Math.max(0, (await arrived) - answered));
    stream.destroy();
  }
  agent.destroy();
  return summarize(times, 1);
}

async function run(): Promise<void> {
  const world = await createWorld({
    // Nothing is run: what is measured is the service API alone.
    role: "gateway,control,builder",
    flags: [
      "--max-queued",
      "1000000",
      "--max-queued-per-subscription",
      "1000000",
      "--starts-per-second",
      "1000000",
    ],
  });
  try {
    const project = await world.createProject("waits", "def run():\n    return {}\n");
    const { serviceKey } = await world.deploy(project);
    const consumer = await world.subscribe(serviceKey);
    const caller = { consumer, client: createHttpClient({ authorization: `Bearer ${consumer.token}` }) };
    const parts = argv.slice(2);
    const isAsked = (part: string) => parts.length === 0 || parts.includes(part);
    if (isAsked("delivery")) {
      const second = await world.start({
        role: "gateway",
        flags: ["--gateway-url", world.platform.gatewayUrl],
      });
      for (const [where, origin] of [
        ["the same gateway", world.platform.gatewayUrl],
        ["another gateway", second.gatewayUrl],
      ] as const) {
        const { p50, p99 } = await measureDelivery(caller, origin);
        stdout.write(`       p99 ${p99} ms\n`);
        report(`event of a change at ${where}, p50 after its answer, ms`, p50, { atMost: MOST_MS_EVENT });
      }
    }
    if (isAsked("open")) {
      const ids = await Promise.all(Array.from({ length: STREAMS }, () => start(caller)));
      await measureOpen(world, caller, ids);
    }
    if (isAsked("keyed")) await measureKeyed(caller);
    caller.client.close();
  } finally {
    await world.close();
  }
}

await run();
