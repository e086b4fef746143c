import { env } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzz } from "../support/fuzz-requests.ts";
import type { FuzzedOperation, FuzzedRequest } from "../support/fuzz-requests.ts";
import { openInspector } from "../support/inspector.ts";
import type { Inspector } from "../support/inspector.ts";
import { openConnection } from "../support/raw-http.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const SECOND = 1_000;

/*
 * Guarantee 7: bad input of any kind gets a 4xx with code and detail, never a 500, never a hang, and costs nothing to
 * others. The same requests each time: FUZZ_SEED and FUZZ_REQUESTS choose others, and `npm run test:fuzz` sends 200,000.
 */

const SEED = Number(env["FUZZ_SEED"] ?? 20_261_122);
const REQUESTS = Number(env["FUZZ_REQUESTS"] ?? 4_000);
const BATCH = 500;
const CONNECTIONS = 4;
const SLOW_MS = 1 * SECOND;
const HUNG_MS = 60 * SECOND;
/** Requests after which caches are as full as they get. */
const WARM = 1_000;
/** Of the heap after the first tenth of the requests, and so many at least. */
const MAX_GROWTH = 1.2;
const TIMEOUT_MS = Math.max(600_000, 30 * REQUESTS);

const PROGRAM = `
from typing import TypedDict

class Data(TypedDict, total=False):
    n: int
    names: list[str]
    next: "Data | None"

def run(data: Data, params: dict):
    return {}
`;

let world: World;
let consumer: Consumer;
let inspector: Inspector;
let operations: readonly FuzzedOperation[];

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

beforeAll(async () => {
  world = await createWorld({
    environment: { NODE_OPTIONS: "--inspect=127.0.0.1:0" },
    flags: ["--writes-per-second", "100000"],
  });
  const project = await world.createProject("fuzzed", PROGRAM);
  const { serviceKey } = await world.deploy(project);
  consumer = await world.subscribe(serviceKey);
  inspector = await openInspector(world.platform.readLog());
  operations = await listOperations(serviceKey);
});
afterAll(async () => {
  inspector?.close();
  await world?.close();
});

function isDestructive(operationId: string): boolean {
  return /^(delete|revoke|rotate|retire|archive|cancelSubscription|putSubscription|unpublish)/.test(
    operationId,
  );
}

/** Every operation of both APIs and the token endpoint. What is deleted or paused are decoys: the rest must go on to work. */
async function listOperations(serviceKey: string): Promise<readonly FuzzedOperation[]> {
  const { body: started } = await consumer.start({});
  await consumer.finish(started.id);
  const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {});
  const { body: decoy } = await world.api<{ id: string }>("POST", "/applications", { name: "decoy" });
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "fuzzed" });
  const { applicationId, keyId, id } = consumer.subscription;
  const base = new URL(consumer.endpoint).pathname.replace(/\/$/, "");
  const service = await consumer.call<Document>("GET", "openapi.json");
  const platform = await world.api<Document>("GET", "/openapi.json");
  const ids = {
    key: [serviceKey],
    version: ["1.0.0"],
    services: [],
    applications: [applicationId],
    subscriptions: [id],
    keyId: [keyId],
    jobs: [job.id],
    executions: [started.id],
    "data-pools": [pool.id],
  };
  const decoys = {
    ...ids,
    version: ["1.0.1"],
    applications: [decoy.id],
    subscriptions: [],
    keyId: [],
    "data-pools": [],
  };
  const read = (document: Document, prefix: string, kind: string | null, host: string, token: string) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): FuzzedOperation => {
        const known: Readonly<Record<string, readonly string[]>> = isDestructive(operation.operationId)
          ? decoys
          : ids;
        const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
        const resource = kind ?? path.split("/")[1] ?? "";
        return {
          id: operation.operationId,
          method: method.toUpperCase(),
          path: `${prefix}${path}`,
          params: { ...known, id: known[resource] ?? [] },
          query: (operation.parameters ?? [])
            .filter((parameter) => parameter.in === "query")
            .map(({ name }) => (name === "serviceKey" ? `serviceKey=${serviceKey}` : name)),
          body:
            type === undefined || content === undefined
              ? null
              : { type, schema: { ...resolveReferences(content.schema, document.components.schemas) } },
          host,
          token,
        };
      }),
    );
  const gatewayHost = new URL(world.platform.gatewayUrl).host;
  const apiHost = new URL(world.platform.apiUrl).host;
  const tokenEndpoint: FuzzedOperation = {
    id: "token",
    method: "POST",
    path: "/token",
    params: {},
    query: [],
    body: { type: "application/x-www-form-urlencoded", schema: { enum: ["grant_type=client_credentials"] } },
    host: gatewayHost,
    token: `Basic ${btoa(`${keyId}:${consumer.subscription.secret}`)}`,
  };
  return [
    ...read(service.body, base, "executions", gatewayHost, `Bearer ${consumer.token}`),
    ...read(platform.body, "/api", null, apiHost, `Bearer ${world.login.personalAccessToken}`),
    tokenEndpoint,
  ];
}

/** The schema with every component in the place of its reference; inside itself a component is any value. */
function resolveReferences(schema: object, components: Readonly<Record<string, object>>): object {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("$ref" in value)) return value;
    const name = String(value.$ref).replace("#/components/schemas/", "");
    const component = components[name];
    if (component === undefined) throw new Error(`There is no component ${String(value.$ref)}.`);
    return resolveReferences(component, { ...components, [name]: {} });
  }) as object;
}

/** What is wrong with an answer; null where nothing is. */
function findFault(request: FuzzedRequest, answer: RawAnswer | null): string | null {
  if (answer === null) return request.isTruncated ? null : "the connection was closed without an answer";
  const { status, body } = answer;
  if (status >= 500) return `${status} ${body}`;
  if (status < 400 || request.isHead) return null;
  const problem = parseObject(body);
  const isProblem = typeof problem?.["code"] === "string" && typeof problem["detail"] === "string";
  const isOAuth = typeof problem?.["error"] === "string" && typeof problem["error_description"] === "string";
  if (!(isProblem || (isOAuth && request.operation.id === "token")))
    return `${status} without code and detail: ${body}`;
  return /\n\s*at |node_modules|packages\/|\.ts:\d/.test(body) ? `${status} shows our inside: ${body}` : null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

const faults: string[] = [];
const statuses = new Map<number, number>();

function report(request: FuzzedRequest, fault: string): void {
  const bytes = Buffer.from(request.bytes);
  const body = bytes.subarray(bytes.indexOf("\r\n\r\n") + 4).toString("latin1");
  faults.push(`${fault.slice(0, 300)}\n  ${request.operation.id}: ${request.head}\n  ${body.slice(0, 200)}`);
}

async function sendTimed(connection: ReturnType<typeof openConnection>, request: FuzzedRequest) {
  const began = performance.now();
  const answer = await Promise.race([
    connection.send(request),
    delay(HUNG_MS, "hung" as const, { ref: false }),
  ]);
  return { answer, milliseconds: performance.now() - began };
}

async function sendAll(requests: readonly FuzzedRequest[]): Promise<void> {
  const waiting = [...requests];
  const work = async () => {
    const connections = new Map<string, ReturnType<typeof openConnection>>();
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      const { host } = request.operation;
      const connection = connections.get(host) ?? openConnection(`http://${host}`);
      connections.set(host, connection);
      const { answer, milliseconds } = await sendTimed(connection, request);
      if (answer === "hung") {
        report(request, `no answer within ${HUNG_MS / SECOND} s`);
        connections.delete(host);
        continue;
      }
      statuses.set(answer?.status ?? 0, (statuses.get(answer?.status ?? 0) ?? 0) + 1);
      const fault = findFault(request, answer);
      if (fault !== null) report(request, fault);
      if (milliseconds > SLOW_MS) slow.push(request);
    }
    for (const connection of connections.values()) connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

const slow: FuzzedRequest[] = [];

/** Whether a request is slow by itself: alone, three times out of three, on a machine that is not busy with something else. */
async function isSlowAlone(request: FuzzedRequest): Promise<boolean> {
  for (let time = 0; time < 3; time++) {
    await waitForQuiet();
    const connection = openConnection(`http://${request.operation.host}`);
    const { milliseconds } = await sendTimed(connection, request);
    connection.close();
    if (milliseconds <= SLOW_MS) return false;
  }
  return true;
}

async function waitForQuiet(): Promise<void> {
  const deadline = Date.now() + HUNG_MS;
  for (;;) {
    const began = performance.now();
    const response = await fetch(`${world.platform.apiUrl}/healthz`);
    await response.arrayBuffer();
    if (performance.now() - began < SLOW_MS / 10 || Date.now() > deadline) return;
  }
}

test(
  `${REQUESTS} broken requests (FUZZ_SEED=${SEED}) get a 4xx with code and detail, take no second, and leave nothing behind`,
  async () => {
    const requests = fuzz(operations);
    let heap = Number.NaN;
    for (let sent = 0; sent < REQUESTS; sent += BATCH) {
      await sendAll(fc.sample(requests, { seed: SEED + sent, numRuns: BATCH }));
      if (Number.isNaN(heap) && sent + BATCH >= Math.max(WARM, REQUESTS / 10))
        heap = await inspector.measureHeap();
      expect(faults.slice(0, 5).join("\n\n"), `FUZZ_SEED=${SEED}`).toBe("");
    }
    for (const request of slow) if (await isSlowAlone(request)) report(request, "takes more than a second");
    expect(faults.slice(0, 5).join("\n\n"), `FUZZ_SEED=${SEED}`).toBe("");

    // The fuzz got through to where work is done, and was not refused at the first check throughout.
    for (const status of [200, 201, 204, 400, 404, 405, 415])
      expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
    expect(world.platform.process.exitCode).toBeNull();
    const { status, body } = await consumer.start({});
    expect([status, body]).toEqual([201, expect.anything()]);
    expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
    expect(await inspector.measureHeap()).toBeLessThan(MAX_GROWTH * heap);
  },
  TIMEOUT_MS,
);
