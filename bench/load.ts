import { Agent, request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";

/** Latencies in milliseconds, and requests a second over the whole run. */
export interface Figures {
  readonly count: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface HttpClient {
  readonly send: (
    method: string,
    url: string,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  readonly close: () => void;
}

/** A plain keep-alive client: the least that a caller costs. */
export function createHttpClient(headers: Readonly<Record<string, string>> = {}): HttpClient {
  const agent = new Agent({ keepAlive: true });
  return {
    send: (method, url, body, more = {}) =>
      new Promise((resolve, reject) => {
        const length =
          body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
        const outgoing = sendRequest(
          url,
          { method, agent, headers: { ...headers, ...length, ...more } },
          (incoming: IncomingMessage) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("end", () =>
              resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
            );
            incoming.on("error", reject);
          },
        );
        outgoing.on("error", reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** So that all measurements together end in some minutes, also on a slow machine. */
const MAX_MS = 8_000;

/** Runs `work` again and again with so many at a time, for so many in all, or for eight seconds. */
export async function measure(
  count: number,
  concurrency: number,
  work: (number: number) => Promise<void>,
): Promise<Figures> {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  const runNext = async () => {
    while (next < count && performance.now() - began < MAX_MS) {
      const number = next++;
      const start = performance.now();
      await work(number);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runNext));
  const seconds = (performance.now() - began) / 1_000;
  return summarize(times, seconds);
}

/** As `measure`, one at a time; `work` times what counts itself. The first are not counted: Node.js compiles meanwhile. */
export async function sample(
  count: number,
  uncounted: number,
  work: () => Promise<number>,
): Promise<Figures> {
  const times: number[] = [];
  const began = performance.now();
  while (times.length < count + uncounted && performance.now() - began < MAX_MS) times.push(await work());
  return summarize(times.slice(Math.min(uncounted, times.length - 1)), 1);
}

export function summarize(times: readonly number[], seconds: number): Figures {
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (part: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);
  return {
    count: times.length,
    perSecond: round(times.length / seconds),
    p50: quantile(0.5),
    p95: quantile(0.95),
    p99: quantile(0.99),
  };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
