import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { Type } from "typebox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "@platform/contract/client";
import type { Operation, OperationTable } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import type { ByteRange } from "../base/byte-range.ts";
import { describeAttachment } from "../content/disposition.ts";
import { registerOperations } from "./pipeline.ts";
import { createHttpServer } from "./server.ts";

const ROW = {
  method: "GET",
  path: "/files/{name}",
  allows: "caller",
  scope: "user",
  audit: null,
  rate: "read",
  bodyMode: "none",
  answerMode: "content",
  summary: "Download a file",
  description: "As it is.",
  params: Type.Object({ name: Type.String() }),
  responses: { 200: { description: "The file" } },
} as const satisfies Operation;

const TABLE = {
  download: ROW,
  upload: {
    ...ROW,
    method: "PUT",
    audit: "file.put",
    rate: "upload",
    bodyMode: "file",
    answerMode: "json",
    responses: {
      201: { description: "What arrived", schema: Type.Object({ type: Type.String(), text: Type.String() }) },
    },
  },
} as const satisfies OperationTable;

const NAME = 'Straße "1".csv';
const TYPE = "text/csv; charset=utf-8";

interface Stored {
  readonly bytes: Buffer;
  readonly type: string;
  /** In place of the bytes. */
  readonly open?: (range: ByteRange) => Promise<Readable>;
}

const files = new Map<string, Stored>();
let opened: Readable[] = [];
let app: FastifyInstance;
let base: string;

beforeAll(async () => {
  app = createHttpServer({ logger: pino({ level: "silent" }) });
  await registerOperations<typeof TABLE, string>(app, TABLE, {
    prefix: "",
    authenticate: () => "ada",
    handlers: {
      download: ({ params: { name } }) => {
        const file = files.get(name);
        if (file === undefined) throw new Problem("NOT_FOUND");
        const { bytes, type } = file;
        const read = async ({ start, end }: ByteRange) => Readable.from([bytes.subarray(start, end)]);
        const open = async (range: ByteRange) => {
          const stream = await (file.open ?? read)(range);
          opened.push(stream);
          return stream;
        };
        return {
          status: 200,
          body: { content: { hash: hash(bytes), bytes: bytes.length, open }, type, name },
        };
      },
      upload: async ({ body, http }) => ({
        status: 201,
        body: {
          type: http.headers["content-type"] ?? "none",
          text: createHash("sha256")
            .update(await buffer(body))
            .digest("hex"),
        },
      }),
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterAll(() => app.close());
beforeEach(() => {
  files.clear();
  opened = [];
});

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function store(text: string, more: Partial<Stored> = {}, name = NAME): string {
  const bytes = Buffer.from(text);
  files.set(name, { bytes, type: TYPE, ...more });
  return `"${hash(bytes)}"`;
}

const get = (headers: Record<string, string> = {}, method = "GET", name = NAME): Promise<Response> =>
  fetch(`${base}/files/${encodeURIComponent(name)}`, { method, headers });

describe("content", () => {
  test("is sent with its length, type, digest and name, for saving and not for showing", async () => {
    const etag = store("a;b\n");
    const response = await get();
    expect([response.status, await response.text()]).toEqual([200, "a;b\n"]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "cache-control": "private",
      "content-disposition": `attachment; filename="Stra_e _1_.csv"; filename*=UTF-8''Stra%C3%9Fe%20%221%22.csv`,
      "content-length": "4",
      "content-security-policy": "sandbox; default-src 'none'",
      "content-type": TYPE,
      etag,
      "repr-digest": `sha-256=:${createHash("sha256").update("a;b\n").digest("base64")}:`,
      "x-content-type-options": "nosniff",
    });
  });

  test("has the same head for HEAD, and is not read for that", async () => {
    const etag = store("abc");
    const response = await get({ range: "bytes=1-1" }, "HEAD");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect([response.headers.get("content-length"), response.headers.get("etag")]).toEqual(["3", etag]);
    expect(opened).toEqual([]);
  });

  test("of no bytes is sent", async () => {
    store("");
    const response = await get({ range: "bytes=-5" });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      200,
      "0",
      "",
    ]);
  });

  test("is not sent to who has it", async () => {
    const etag = store("abc");
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const response = await get({ "if-none-match": known });
      expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([304, etag, ""]);
    }
    expect((await get({ "if-none-match": '"x"' })).status).toBe(200);
    expect(opened).toHaveLength(1);
  });

  test("of any type is sent to who accepts JSON only, as published clients do; refusals are JSON", async () => {
    store("abc");
    for (const accept of ["application/json", "text/html"]) {
      expect(await (await get({ accept })).text()).toBe("abc");
      expect(await (await get({ accept }, "GET", "other")).json()).toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test.each([
    "text/html\r\nset-cookie: a=b",
    "html",
    "",
    "text/ü",
    'text/a; b="\u0000"',
    `a/${"b".repeat(300)}`,
  ])("is sent as bytes where its type is none: %j", async (type) => {
    store("abc", { type });
    const { headers } = await get();
    expect([headers.get("content-type"), headers.get("set-cookie")]).toEqual([
      "application/octet-stream",
      null,
    ]);
  });

  test("is sent under any name", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 3, maxLength: 40 }), async (name) => {
        store("abc", {}, name);
        const response = await fetch(`${base}/files/${encodeURIComponent(name)}`);
        const [, encoded] =
          /^attachment; filename="[\w .-]*"; filename\*=UTF-8''([\w.!#$&+^`|~%-]*)$/.exec(
            response.headers.get("content-disposition") ?? "",
          ) ?? [];
        expect(decodeURIComponent(encoded ?? "")).toBe(name);
      }),
    );
  });
});

test("half of a character, which a name may end with that was cut, keeps no content from being sent", () => {
  expect(describeAttachment("a\uD83D")).toBe("attachment; filename=\"a_\"; filename*=UTF-8''a%EF%BF%BD");
});

describe("a range", () => {
  test("is that of the bytes, whichever it is", async () => {
    const place = fc.nat(14);
    const range = fc.oneof(
      fc.tuple(place, fc.option(place, { nil: "" })).map(([first, last]) => `${first}-${last}`),
      place.map((last) => `-${last}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }),
        range,
        async (text, asked) => {
          store(text);
          const response = await get({ range: `bytes=${asked}` });
          const [first = null, last = null] = asked
            .split("-")
            .map((part) => (part === "" ? null : Number(part)));
          const start = first ?? Math.max(0, text.length - (last ?? 0));
          const end = first === null ? text.length : Math.min((last ?? 99) + 1, text.length);
          const isNone = start >= text.length && !(last !== null && first !== null && last < start);
          const expected = isNone
            ? [416, `bytes */${text.length}`, ""]
            : end <= start
              ? [200, null, text]
              : [206, `bytes ${start}-${end - 1}/${text.length}`, text.slice(start, end)];
          const body = response.ok ? await response.text() : "";
          expect([response.status, response.headers.get("content-range"), body]).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    "bytes=0-0,2-2",
    "bytes=2-1",
    "bytes=",
    "bytes=-",
    "bytes=a-b",
    "items=0-0",
    "bytes 0-0",
    "bytes=0-0x",
  ])("that is not one range of bytes is ignored: %s", async (range) => {
    store("abc");
    const response = await get({ range });
    expect([response.status, await response.text()]).toEqual([200, "abc"]);
  });

  test("of numbers without end, and in capitals, is that of the bytes", async () => {
    store("abc");
    const huge = "9".repeat(400);
    expect(await (await get({ range: `bytes=1-${huge}` })).text()).toBe("bc");
    expect(await (await get({ range: `BYTES=-${huge}` })).text()).toBe("abc");
    const refused = await get({ range: `bytes=${huge}-` });
    expect([refused.status, await refused.json()]).toMatchObject([416, { code: "RANGE_NOT_SATISFIABLE" }]);
  });

  test("is sent where If-Range names this content, and all of it where it names another", async () => {
    const etag = store("abc");
    expect(await (await get({ range: "bytes=1-1", "if-range": etag })).text()).toBe("b");
    expect(await (await get({ range: "bytes=1-1", "if-range": '"x"' })).text()).toBe("abc");
    expect(await (await get({ range: "bytes=9-", "if-range": '"x"' })).text()).toBe("abc");
  });
});

describe("content that cannot be read", () => {
  test("is refused as its store says, without anything of it", async () => {
    store("abc", { open: () => Promise.reject(new Problem("UNAVAILABLE", "The store is down.")) });
    const response = await get();
    expect([response.status, response.headers.get("etag")]).toEqual([503, null]);
    expect(await response.json()).toMatchObject({ detail: "The store is down." });
  });

  test("is refused where not even its first byte comes", async () => {
    store("abc", { open: async () => new Readable({ read: failToRead }) });
    const response = await get();
    expect([response.status, response.headers.get("etag")]).toEqual([500, null]);
    expect(await response.json()).toMatchObject({ code: "INTERNAL_ERROR" });
  });

  test.each([
    ["breaks off", 100_000, true],
    ["is shorter than it says", 100_000, false],
    ["is longer than it says", 300_000, false],
  ])(
    "and %s on the way is refused or breaks the connection: nobody takes a part for the whole",
    async (_, length, isBroken) => {
      store("x".repeat(200_000), {
        open: async () =>
          Readable.from(
            (function* () {
              yield Buffer.alloc(50_000);
              yield Buffer.alloc(length - 50_000);
              if (isBroken) throw new Error("the store is gone");
            })(),
          ),
      });
      const isWhole = get()
        .then(
          (response) => response.arrayBuffer().then(() => response.ok),
          () => false,
        )
        .catch(() => false);
      expect(await isWhole).toBe(false);
      expect(opened.every(({ destroyed }) => destroyed)).toBe(true);
    },
  );

  test("any further, as its reader has gone, is closed", async () => {
    const endless = Buffer.alloc(65_536);
    store("x".repeat(10_000_000), { open: async () => Readable.from(repeat(endless)) });
    const stop = new AbortController();
    const response = await fetch(`${base}/files/${encodeURIComponent(NAME)}`, { signal: stop.signal });
    await response.body?.getReader().read();
    const [source] = opened;
    const closed = new Promise((resolve) => source?.once("close", resolve));
    stop.abort();
    await closed;
    expect(opened).toHaveLength(1);
  });
});

function failToRead(): never {
  throw new Error("the disk is gone");
}

function* repeat<T>(value: T): Generator<T> {
  for (;;) yield value;
}

const put = (body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${base}/files/a`, { method: "PUT", body: new Uint8Array(body), headers });

describe("a file as a body", () => {
  test.each(["application/json", "text/csv", "application/x-www-form-urlencoded", "image/png"])(
    "reaches the handler as it is, of the type %s",
    async (type) => {
      const response = await put(Buffer.from("{broken"), { "content-type": type });
      expect([response.status, await response.json()]).toEqual([
        201,
        { type, text: hash(Buffer.from("{broken")) },
      ]);
    },
  );

  test("is refused with a type that is none, which the detail says", async () => {
    const response = await put(Buffer.from("x"), { "content-type": ";;;" });
    expect([response.status, await response.json()]).toEqual([
      415,
      { code: "UNSUPPORTED_MEDIA_TYPE", detail: "The Content-Type header is no media type; correct it." },
    ]);
  });

  test.each([0, 3, 5_000_000])("reaches the handler without a type, with %i bytes", async (length) => {
    const body = Buffer.alloc(length, "x");
    expect(await (await put(body)).json()).toEqual({ type: "none", text: hash(body) });
  });
});

const create = () => createClient(TABLE, { baseUrl: base });

describe("the client", () => {
  test("gives content as a response, of a range, and also where the caller has it", async () => {
    const etag = store("abc");
    const params = { name: NAME };
    expect(await (await create().download({ params })).text()).toBe("abc");
    const part = await create().download({ params, headers: { range: "bytes=1-" } });
    expect([part.status, await part.text()]).toEqual([206, "bc"]);
    expect((await create().download({ params, headers: { "if-none-match": etag } })).status).toBe(304);
    await expect(create().download({ params: { name: "other" } })).rejects.toMatchObject({ status: 404 });
  });

  test("sends a file as bytes, or as the type that the caller says", async () => {
    const body = Buffer.from("a;b");
    const params = { name: "a" };
    expect(await create().upload({ params, body })).toEqual({
      type: "application/octet-stream",
      text: hash(body),
    });
    const headers = { "content-type": "text/csv" };
    expect(await create().upload({ params, body, headers })).toEqual({ type: "text/csv", text: hash(body) });
    const stream = new Blob([body]).stream();
    expect(await create().upload({ params, body: stream })).toMatchObject({ text: hash(body) });
  });
});
