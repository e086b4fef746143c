/** What the client makes of answers that are not those of a service, tried as the other promises. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ID, RUNNING, closeServers, describe, serve } from "../tests/scripted-server.js";
import { RequestRefused, WaitTimeout } from "./index.js";
import { PATIENCE_MS, pauseBetween } from "./transport.js";

afterEach(closeServers);

const pauseAfter = (asked) => pauseBetween(new Headers({ "retry-after": asked }), 0, 1);

test("no Retry-After makes waiting endless, or a busy loop", async () => {
  const weeks = "Fri, 31 Dec 9999 23:59:59 GMT";
  const past = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (const asked of ["2419200", "9".repeat(400), weeks])
    assert.equal(pauseAfter(asked), PATIENCE_MS, asked);
  const faulty = ["-1", "1.5", "1 2 3", "soon", "NaN", "", weeks.replace("9999", "9".repeat(30))];
  for (const asked of ["0", past, ...faulty]) {
    const found = pauseAfter(asked);
    assert.ok(found >= 250 && found <= 500, `${asked}: ${found}`);
  }
  for (const headers of [{ "retry-after": "0" }, { "preference-applied": "wait=30" }]) {
    const { asked, client } = await serve([{ ...RUNNING, headers }]);
    await assert.rejects(client.wait(ID, { timeout: 1 }), WaitTimeout);
    assert.ok(asked.length <= 5, `asked ${asked.length} times`);
  }
});

test("a Retry-After that is none is not left to the caller", async () => {
  for (const asked of ["-1", "1.5", "soon"]) {
    const away = { status: 503, body: {}, headers: { "retry-after": asked } };
    const { client } = await serve([away, RUNNING]);
    assert.equal((await client.state(ID)).status, "RUNNING");
  }
});

const MISREAD = [
  "<html>hidden</html>",
  "",
  new Uint8Array([0xff, 0xfe]),
  '{"a": NaN}',
  "[".repeat(100_000),
  '"hidden"',
  "null",
  "[5]",
  '{"status": 5, "secret": "hidden"}',
  '{"_embedded": {"status": "hidden"}}',
];

async function rejectsMisread(call, requestId) {
  await assert.rejects(call(), (error) => {
    assert.ok(error instanceof RequestRefused, String(error));
    assert.deepEqual([error.status, error.code, Object.keys(error.body)], [200, "HTTP_200", ["detail"]]);
    assert.match(error.detail, /^The answer is not /u);
    assert.equal(error.requestId, requestId);
    assert.equal(error.cause, undefined);
    assert.doesNotMatch(error.message, /hidden/u);
    return true;
  });
}

test("an answer that is not that of a service is refused, and not shown", async () => {
  for (const text of MISREAD) {
    const { asked, client } = await serve([{ text, headers: { "x-request-id": "r1" } }]);
    for (const name of ["state", "wait", "cancel", "result", "files", "log", "start", "run", "list"])
      await rejectsMisread(
        () => client[name](...(["start", "run", "list"].includes(name) ? [] : [ID])),
        "r1",
      );
    assert.equal(asked.length, 9, String(text));
  }
  for (const wrong of [{ id: 5 }, { terminal: "no" }, { createdAt: null }, { endedAt: 5 }]) {
    const state = await serve([{ body: describe("RUNNING", wrong) }]);
    await rejectsMisread(() => state.client.state(ID), null);
    const list = await serve([{ body: [describe("RUNNING", wrong)] }]);
    await rejectsMisread(() => list.client.list(), null);
  }
});

test("a page that names itself as the next ends a list", async () => {
  const headers = { link: '<https://host/list?cursor=%zz>; rel="next"' };
  const { asked, client } = await serve([{ body: [describe("FAILED")], headers }]);
  await rejectsMisread(() => client.list(), null);
  await rejectsMisread(() => client.log(ID), null);
  assert.equal(asked.length, 4);
});

test("a page without items ends a list, whatever it names as the next", async () => {
  const pages = ["c1", "c2", "c3"].map((cursor) => ({
    body: [],
    headers: { link: `<https://host/list?cursor=${cursor}>; rel="next"` },
  }));
  for (const name of ["list", "log"]) {
    const { asked, client } = await serve([...pages, { body: [] }]);
    assert.deepEqual(await client[name](...(name === "log" ? [ID] : [])), []);
    assert.equal(asked.length, 1, name);
  }
});

test("an answer without an access token is refused, and not shown", async () => {
  const tokens = [null, 5, "", "hid\nden"].map((token) => JSON.stringify({ access_token: token }));
  for (const token of [...MISREAD, '{"token":"hidden"}', ...tokens]) {
    const { asked, client } = await serve([RUNNING], { token });
    await rejectsMisread(() => client.state(ID), null);
    assert.deepEqual(asked, []);
  }
});

test("a token may have any lifetime, or none", async () => {
  for (const [lifetime, tokens] of [
    [undefined, 2],
    ["3600", 2],
    [-5, 2],
    [[], 2],
    [1e300, 1],
  ]) {
    const { seen, client } = await serve([RUNNING], { lifetime: lifetime ?? null });
    await client.state(ID);
    await client.state(ID);
    assert.equal(seen.tokens, tokens, String(lifetime));
  }
});

test("what a proxy says of a refusal may be anything", async () => {
  const odd = JSON.stringify({ code: { toString: 1 }, detail: [1], errors: "no" });
  for (const text of ["<html>", "", "[1]", '"no"', "null", odd, "[".repeat(100_000)]) {
    const { client } = await serve([{ status: 502, text }]);
    await assert.rejects(client.state(ID), {
      name: "RequestRefused",
      code: "HTTP_502",
      detail: "",
      errors: [],
    });
  }
});
