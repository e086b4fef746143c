import { Readable } from "node:stream";
import type { LightMyRequestResponse } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Problem } from "@platform/contract/problems";
import { openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

const TEXT = Buffer.from(`{"tour":"${"0123456789".repeat(1000)}","length":7542}`);
const HASH = "b".repeat(64);

const nothing = async (): Promise<void> => undefined;

let scene: ServiceApiScene;
let id: string;
let opened: Readable[] = [];
beforeEach(async () => {
  scene = await openServiceApiScene();
  opened = [];
  scene.contents.read = async (hash, { start, end }) => {
    if (hash !== HASH || start >= end || end > TEXT.length) throw new Error("that is no part of the content");
    const content = Readable.from([TEXT.subarray(start, end)], { objectMode: false });
    opened.push(content);
    return content;
  };
  id = await scene.startAndFinish({
    status: "SUCCEEDED",
    result: Buffer.alloc(0),
    metadata: Buffer.from('{"by":"me"}'),
    output: { result: { hash: HASH, bytes: TEXT.length, path: "", keep: nothing, drop: nothing }, files: [] },
  });
});
afterEach(() => scene.close());

const get = (base: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  scene.app.inject({ url: `${base}/${id}/result`, headers });

test.each(["/hosted", "/jobs"])(
  "is one JSON document around the content, with its length: %s",
  async (base) => {
    const response = await get(base);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      result: JSON.parse(TEXT.toString()),
      metadata: { by: "me" },
      _links: { self: { href: `${base}/${id}/result` }, status: { href: `${base}/${id}` } },
      _embedded: { status: expect.objectContaining({ id, status: "SUCCEEDED" }) },
    });
    expect(response.headers).toMatchObject({
      "content-length": String(response.rawPayload.length),
      "content-type": "application/json; charset=utf-8",
      "accept-ranges": "bytes",
      etag: expect.stringMatching(/^"[\w-]{22}"$/u),
    });
    expect(opened.every((content) => content.destroyed)).toBe(true);
  },
);

test("of the local server has the members of the content as its own", async () => {
  const response = await get("");
  expect(response.json()).toEqual({
    ...JSON.parse(TEXT.toString()),
    _links: { status: { href: `/${id}` } },
    _embedded: { status: expect.objectContaining({ id, status: "SUCCEEDED" }), metadata: { by: "me" } },
  });
  expect(response.headers["content-length"]).toBe(String(response.rawPayload.length));
});

test.each(["/hosted", ""])("comes in ranges that are those of the whole: %j", async (base) => {
  const whole = await get(base);
  const { length } = whole.rawPayload;
  const etag = String(whole.headers.etag);
  for (const [start, end] of [
    [0, 1],
    [0, 5],
    [5, 15],
    [9, 11],
    [2000, 4000],
    [length - 400, length],
    [3, length - 3],
    [length - 1, length],
  ] as const) {
    const part = await get(base, { range: `bytes=${start}-${end - 1}`, "if-range": etag });
    expect([part.statusCode, part.headers["content-range"]]).toEqual([
      206,
      `bytes ${start}-${end - 1}/${length}`,
    ]);
    expect(part.rawPayload.equals(whole.rawPayload.subarray(start, end))).toBe(true);
  }
  const behind = await get(base, { range: `bytes=${length}-` });
  expect([behind.statusCode, behind.headers["content-range"]]).toEqual([416, `bytes */${length}`]);
  expect(behind.json()).toMatchObject({ code: "RANGE_NOT_SATISFIABLE" });
});

test("is not sent again to who has it, and whole to who has another", async () => {
  const { headers } = await get("/hosted");
  const etag = String(headers.etag);
  const known = await get("/hosted", { "if-none-match": etag });
  expect([known.statusCode, known.rawPayload.length]).toEqual([304, 0]);
  expect((await get("/jobs", { "if-none-match": etag })).statusCode).toBe(200);
  expect((await get("/hosted", { range: "bytes=0-1", "if-range": '"other"' })).statusCode).toBe(200);
});

describe("a file of a result", () => {
  const NAME = "Straße 1.csv";
  let ofFiles: string;
  beforeEach(async () => {
    const content = { hash: HASH, bytes: TEXT.length, path: "", keep: nothing, drop: nothing };
    ofFiles = await scene.startAndFinish({
      status: "SUCCEEDED",
      result: Buffer.from('{"a":1}'),
      metadata: null,
      output: { result: null, files: [{ name: NAME, content }] },
    });
  });
  const link = (base: string) => `${base}/${ofFiles}/result/${encodeURIComponent(NAME)}`;

  test.each(["/hosted", "/jobs", ""])(
    "is linked by its name, and sent for download only: %j",
    async (base) => {
      const result = await scene.app.inject({ url: `${base}/${ofFiles}/result` });
      const { _links } = result.json<{ _links: Record<string, { href: string }> }>();
      expect(_links[NAME]).toEqual({ href: link(base) });
      const response = await scene.app.inject({ url: _links[NAME]?.href ?? "" });
      expect(response.rawPayload.equals(TEXT)).toBe(true);
      expect(response.headers).toMatchObject({
        "content-type": "text/csv",
        "content-length": String(TEXT.length),
        "content-disposition": expect.stringMatching(/^attachment; /u),
        "x-content-type-options": "nosniff",
        etag: `"${HASH}"`,
      });
      const part = await scene.app.inject({ url: link(base), headers: { range: "bytes=10-19" } });
      expect([part.statusCode, part.rawPayload.equals(TEXT.subarray(10, 20))]).toEqual([206, true]);
    },
  );

  test("is of its owner only, and none but those that are linked is there", async () => {
    const foreign = await scene.app.inject({ url: link("/hosted"), headers: { "x-owner": "bob" } });
    expect([foreign.statusCode, foreign.json()]).toEqual([
      404,
      expect.objectContaining({ code: "EXECUTION_NOT_FOUND" }),
    ]);
    const names = ["other", "..%2f..%2fetc%2fpasswd", "%00", HASH, "a".repeat(400)];
    for (const name of names) {
      const { statusCode, json } = await scene.app.inject({ url: `/hosted/${ofFiles}/result/${name}` });
      expect([name, statusCode, json()]).toEqual([name, 404, expect.objectContaining({ code: "NOT_FOUND" })]);
    }
    expect(opened).toEqual([]);
  });

  test("is not ready before its result is", async () => {
    const { id: running } = (await scene.start()).json<{ id: string }>();
    const { statusCode, json } = await scene.app.inject({ url: `/hosted/${running}/result/a` });
    expect([statusCode, json()]).toEqual([404, expect.objectContaining({ code: "RESULT_NOT_READY" })]);
  });
});

test("is of its owner only", async () => {
  const response = await get("/hosted", { "x-owner": "bob" });
  expect([response.statusCode, opened.length]).toEqual([404, 0]);
});

test("is a refusal where its store does not answer, before anything was sent", async () => {
  scene.contents.read = () =>
    Promise.reject(new Problem("UNAVAILABLE", "Later.", { headers: { "retry-after": "60" } }));
  const response = await get("/hosted");
  expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "60"]);
  expect(response.json()).toMatchObject({ code: "UNAVAILABLE", detail: "Later." });
});

test("ends with a broken connection where the content is shorter than it was", async () => {
  scene.contents.read = async () => Readable.from([TEXT.subarray(0, 500)], { objectMode: false });
  await expect(get("/hosted")).rejects.toThrow("destroyed");
});
