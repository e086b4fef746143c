/** What the client promises, tried on a server that answers as each test tells it: `node --test`. */
import assert from "node:assert/strict";
import { env } from "node:process";
import { afterEach, test } from "node:test";
import {
  ID,
  PENDING,
  RUNNING,
  closeServers,
  describe,
  end,
  measure,
  serve,
} from "../tests/scripted-server.js";
import {
  Client,
  ExecutionFailed,
  ExecutionUnknown,
  FileReference,
  RequestRefused,
  ServerUnreachable,
  WaitTimeout,
} from "./index.js";
import { Tokens } from "./tokens.js";
import { send } from "./transport.js";

afterEach(closeServers);

const WRONG_URLS = [
  "localhost:8080/k/n/1.0.0",
  "htps://host/k/n/1.0.0",
  "ftp://host/k/n/1.0.0",
  "https://me:hidden@host/k/n/1.0.0",
  "https:///k/n/1.0.0",
  "https://host:port/k/n/1.0.0",
  "https://host:99999/k/n/1.0.0",
  "https://host/k/n/1.0.0?a=1",
  "https://host/k/n/1.0.0#a",
  "https://host/k/n/1 0",
  "https://host/k/n/1.0.0\r\nHost: a",
  "host",
];

test("concurrent callers share one token", async () => {
  const { seen, asked, client } = await serve([RUNNING]);
  await Promise.all(Array.from({ length: 50 }, () => client.state(ID)));
  assert.equal(seen.tokens, 1);
  assert.deepEqual(new Set(asked.map(({ headers }) => headers.authorization)), new Set(["Bearer token-1"]));
});

test("a token is renewed before it expires", async () => {
  const { seen, client } = await serve([RUNNING], { lifetime: 0.4 });
  await client.state(ID);
  await new Promise((resolve) => setTimeout(resolve, 250));
  await client.state(ID);
  assert.equal(seen.tokens, 2);
});

test("a refused token is renewed once", async () => {
  const refused = { status: 401, body: { code: "UNAUTHENTICATED" } };
  const first = await serve([refused, RUNNING]);
  await first.client.state(ID);
  assert.equal(first.seen.tokens, 2);
  const second = await serve([refused]);
  await assert.rejects(second.client.state(ID), RequestRefused);
  assert.equal(second.asked.length, 2);
});

test("a token that another caller has replaced already is not replaced again", async () => {
  const { seen, client } = await serve([RUNNING]);
  const tokens = new Tokens(new URL("/token", client.endpoint).href, { keyId: "key", secret: "secret" });
  const refused = tokens.get();
  await refused;
  tokens.drop(refused);
  const next = await tokens.get();
  tokens.drop(refused);
  assert.deepEqual([await tokens.get(), seen.tokens], [next, 2]);
});

test("a token that could not be had is asked for by the next call", async () => {
  const { seen, client } = await serve([RUNNING], { token: "{}" });
  await assert.rejects(client.state(ID), RequestRefused);
  seen.token = undefined;
  assert.equal((await client.state(ID)).status, "RUNNING");
});

test("another key is used from then on", async () => {
  const { asked, client } = await serve([RUNNING]);
  await client.state(ID);
  client.useKey("other", "secret");
  await client.state(ID);
  assert.equal(asked.at(-1).headers.authorization, "Bearer token-2");
});

test("a start is sent again as it was, after a cut connection and 503", async () => {
  const { asked, client } = await serve([
    0,
    { status: 503, body: {}, headers: { "retry-after": "0" } },
    PENDING,
  ]);
  assert.equal((await client.start({ a: 1 })).status, "PENDING");
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.deepEqual(new Set(asked.map(({ body }) => body)), new Set(['{"data":{"a":1}}']));
});

test("each start has a key of its own", async () => {
  const { asked, client } = await serve([PENDING]);
  await client.start();
  await client.start();
  assert.equal(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size, 2);
});

test("Retry-After is obeyed, and a long one is left to the caller", async () => {
  const busy = { status: 429, body: { code: "RATE_LIMITED" } };
  const first = await serve([{ ...busy, headers: { "retry-after": "1" } }, PENDING]);
  assert.ok((await measure(() => first.client.start())) >= 1_000);
  const second = await serve([{ ...busy, headers: { "retry-after": "3600" } }]);
  await assert.rejects(second.client.start(), RequestRefused);
  assert.equal(second.asked.length, 1);
});

test("other refusals are told, and not repeated", async () => {
  const body = { code: "INVALID_INPUT", detail: "no", errors: [{ path: "/data" }] };
  for (const status of [400, 500]) {
    const { asked, client } = await serve([{ status, body, headers: { "x-request-id": "r1" } }]);
    await assert.rejects(client.start(), { name: "RequestRefused", status, requestId: "r1", ...body });
    assert.equal(asked.length, 1);
  }
});

test("waiting asks at once where the server waits, and only `terminal` ends it", async () => {
  const headers = { "preference-applied": "wait=30", "retry-after": "20" };
  const { asked, client } = await serve([
    { ...RUNNING, headers },
    { body: describe("PAUSED"), headers },
    { body: describe("STOPPED", { terminal: true }) },
    { body: describe("SUCCEEDED") },
  ]);
  assert.ok((await measure(() => client.wait(ID))) < 5_000);
  assert.equal(asked[0].headers.prefer, "wait=30");
  assert.equal(asked.length, 3);
});

test("waiting pauses where the server does not wait", async () => {
  const { client } = await serve([
    { ...RUNNING, headers: { "retry-after": "1" } },
    { body: describe("SUCCEEDED") },
  ]);
  assert.ok((await measure(() => client.wait(ID))) >= 1_000);
});

test("a timeout ends the waiting only, also while the server is away", async () => {
  for (const answer of [RUNNING, { status: 503, body: {} }, 0]) {
    const { asked, client } = await serve([answer]);
    await assert.rejects(
      client.wait(ID, { timeout: 0.2 }),
      (error) => error instanceof WaitTimeout && error.id === ID,
    );
    assert.deepEqual(new Set(asked.map(({ method }) => method)), new Set(["GET"]));
  }
});

test("a timeout may be longer than timers go", async () => {
  const { asked, client } = await serve([RUNNING, { body: describe("SUCCEEDED") }]);
  const { status } = await client.wait(ID, { timeout: 40 * 86_400 });
  assert.deepEqual([status, asked.length], ["SUCCEEDED", 2]);
});

test("what did not succeed is an error", async () => {
  const failed = await serve([{ body: end("FAILED", { code: "TIMEOUT", detail: "late" }) }]);
  await assert.rejects(failed.client.result(ID), (error) => {
    assert.ok(error instanceof ExecutionFailed);
    assert.deepEqual([error.code, error.detail, error.id], ["TIMEOUT", "late", ID]);
    return true;
  });
  const unknown = await serve([{ body: end("UNKNOWN", { code: "WORKER_LOST", detail: "" }) }]);
  await assert.rejects(unknown.client.result(ID), ExecutionUnknown);
});

test("digits and unknown members are kept", async () => {
  const text = JSON.stringify(end("SUCCEEDED", { result: { n: 0 }, news: 1 })).replace(
    '"n":0',
    '"n":12345678901234567890',
  );
  const { client } = await serve([{ text }]);
  const result = await client.result(ID);
  assert.match(result.resultText, /"n":12345678901234567890/u);
  assert.equal(result.body.news, 1);
  assert.deepEqual(result.files, ["a.txt"]);
  const state = await serve([{ body: describe("RUNNING", { news: 1 }) }]);
  assert.equal((await state.client.state(ID)).news, 1);
});

test("a flat result of the local server is read", async () => {
  const body = { result: 1, other: 2, _links: {}, _embedded: { status: { status: "SUCCEEDED" } } };
  const { client } = await serve([{ body }]);
  assert.deepEqual((await client.result(ID)).output, { result: 1, other: 2 });
});

test("lists follow the cursor, and never the host of a link", async () => {
  const two = [describe("FAILED"), describe("FAILED")];
  const { asked, client } = await serve([
    { body: two, headers: { link: '<https://elsewhere.example/?cursor=c1&limit=3>; rel="next"' } },
    { body: two },
  ]);
  assert.equal((await client.list({ status: "FAILED", limit: 3 })).length, 3);
  assert.equal(asked[1].path, "/key/name/1.0.0/?limit=3&status=FAILED&cursor=c1");
});

test("a reference takes the place of a value", async () => {
  const { asked, client } = await serve([PENDING]);
  const ids = { dataPoolId: "p", dataSourceDescriptorId: "d", fileId: "f" };
  await client.start(new FileReference(ids), { a: 1 }, { more: { startWithin: 5 } });
  assert.deepEqual(JSON.parse(asked[0].body), { dataRef: ids, params: { a: 1 }, startWithin: 5 });
});

test("a name that would lead to another path is refused", async () => {
  const { seen, asked, client } = await serve([RUNNING]);
  for (const wrong of ["", ".", "..", null, undefined, 5, { id: ID }]) {
    for (const name of ["state", "wait", "cancel", "result", "log"])
      await assert.rejects(client[name](wrong), TypeError);
    await assert.rejects(client.download(ID, wrong), TypeError);
  }
  assert.deepEqual([asked, seen.tokens], [[], 0]);
});

test("a URL that leads elsewhere than it seems is refused, and not shown", () => {
  for (const wrong of WRONG_URLS)
    for (const given of [
      { endpoint: wrong },
      { endpoint: "https://host/k/n/1.0.0", keyId: "key", secret: "secret", tokenUrl: wrong },
    ])
      assert.throws(
        () => new Client(given),
        (error) => error instanceof TypeError && !error.message.includes("hidden"),
        wrong,
      );
  for (const right of ["http://127.0.0.1:80", "https://host/a/b/1.0.0//", "HTTPS://[::1]:8443/a"])
    assert.ok(new Client({ endpoint: right, keyId: "key", secret: "secret", tokenUrl: right }));
});

test("an input that JSON or a header cannot have is refused at once", async () => {
  const { asked, client } = await serve([PENDING]);
  for (const number of [NaN, Infinity, -Infinity])
    await assert.rejects(client.start({ a: [number] }), TypeError);
  await assert.rejects(client.wait(ID, { timeout: NaN }), TypeError);
  for (const idempotencyKey of ["a\r\nb: c", "€"])
    await assert.rejects(client.start({}, null, { idempotencyKey }), TypeError);
  assert.equal(asked.length, 0);
});

test("a timeout that is null is none", async () => {
  const { client } = await serve([RUNNING, { body: describe("SUCCEEDED") }]);
  assert.equal((await client.wait(ID, { timeout: null })).status, "SUCCEEDED");
});

test("a timeout ends the waiting also while there is no token", async () => {
  const { asked, client } = await serve([RUNNING], { token: 0 });
  await assert.rejects(client.wait(ID, { timeout: 0.2 }), WaitTimeout);
  assert.deepEqual(asked, []);
});

test("names are parts of a path", async () => {
  const { asked, client } = await serve([RUNNING]);
  await client.download("../../x", "a b/ü.txt");
  assert.equal(asked[0].path, "/key/name/1.0.0/..%2F..%2Fx/result/a%20b%2F%C3%BC.txt");
});

test("an answer may take as long as bytes come, and is given up when none come any more", async () => {
  const drops = { count: 8, pauseMs: 150 };
  const whole = await serve([{ drops }]);
  const { bytes } = await send(whole.client.endpoint, { answerMs: 600 });
  assert.equal(bytes.length, 8);
  const stalled = await serve([{ drops: { ...drops, stalls: true } }]);
  const took = await measure(() =>
    assert.rejects(send(stalled.client.endpoint, { answerMs: 300, until: performance.now() + 100 }), {
      name: "OutOfTime",
    }),
  );
  assert.ok(took < 5_000, `took ${took} ms`);
});

test("a server that cannot be reached is told after five tries", async () => {
  const { asked, client } = await serve([0]);
  await assert.rejects(client.cancel(ID), ServerUnreachable);
  assert.equal(asked.length, 5);
});

test("a redirect is refused at once, and neither token nor secret follow it", async () => {
  const elsewhere = await serve([RUNNING]);
  for (const status of [301, 302, 303, 307, 308]) {
    const moved = { status, headers: { location: elsewhere.client.endpoint } };
    const { asked, client } = await serve([moved]);
    for (const call of [() => client.state(ID), () => client.start({ a: 1 })])
      await assert.rejects(call(), (error) => {
        assert(error instanceof RequestRefused);
        assert.deepEqual([error.status, error.code], [status, `HTTP_${status}`]);
        assert(error.message.includes(elsewhere.client.endpoint), error.message);
        return true;
      });
    assert.equal(asked.length, 2);
    const { endpoint } = client;
    const other = new Client({ endpoint, keyId: "key", secret: "secret", tokenUrl: `${endpoint}/moved` });
    await assert.rejects(other.state(ID), RequestRefused);
    assert.equal(asked.length, 3);
  }
  assert.deepEqual([elsewhere.asked, elsewhere.seen.tokens], [[], 0]);
});

test("an endpoint that is no version of a gateway is told no secret", async () => {
  const { seen, asked, client } = await serve([RUNNING]);
  for (const path of ["", "/name", "/key/name"]) {
    const endpoint = `${new URL(client.endpoint).origin}${path}`;
    await new Client({ endpoint, keyId: "key", secret: "secret" }).state(ID);
    const { path: asPath, headers } = asked.at(-1);
    assert.deepEqual([asPath, headers.authorization, seen.tokens], [`${path}/${ID}`, undefined, 0]);
  }
});

test("a variable that is set to nothing is not set", async () => {
  const { seen, client } = await serve([RUNNING]);
  env.PLATFORM_TOKEN_URL = "";
  try {
    await new Client({ endpoint: client.endpoint, keyId: "key", secret: "secret" }).state(ID);
  } finally {
    delete env.PLATFORM_TOKEN_URL;
  }
  assert.equal(seen.tokens, 1);
});
