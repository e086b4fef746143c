import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LightMyRequestResponse } from "fastify";
import { DAY } from "../base/time.ts";
import { createUuidAt, createOwner } from "../testing/execution-fixtures.ts";
import {
  openServiceApiScene,
  SUCCESS,
  LOG_RETENTION_DAYS,
  RETENTION_DAYS,
  TARGET,
  TIMESTAMP,
  toTime,
} from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

function readMessages(response: LightMyRequestResponse): readonly string[] {
  return response.json<{ message: string }[]>().map(({ message }) => message);
}

function readNext(response: LightMyRequestResponse): string {
  return /^<(.*)>; rel="next"$/.exec(String(response.headers.link ?? ""))?.[1] ?? "";
}

describe("log", () => {
  const LINES = Array.from({ length: 2500 }, (_, index) => ({
    time: 0,
    severity: "INFO" as const,
    message: `${index} ${"x".repeat(1000)}`,
  }));
  interface JobLog {
    readonly items: readonly { readonly message: string }[];
    readonly nextCursor: string | null;
  }
  const MESSAGES = LINES.map(({ message }) => message);

  test("of a finished execution is one array of all its lines, however long: published clients follow no Link", async () => {
    await scene.start();
    const claim = await scene.claimOne();
    await scene.store.appendLog(claim, LINES);
    await scene.store.finish(claim, SUCCESS);
    const response = await scene.app.inject({ url: `/hosted/${claim.id}/log` });
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(readMessages(response)).toEqual(MESSAGES);
    expect(response.headers.link).toBeUndefined();
  });

  test("of a finished job comes in pages, as every list of the platform API", async () => {
    await scene.start();
    const claim = await scene.claimOne();
    await scene.store.appendLog(claim, LINES);
    await scene.store.finish(claim, SUCCESS);
    const messages: string[] = [];
    let query: string | null = "";
    while (query !== null) {
      const response: LightMyRequestResponse = await scene.app.inject({
        url: `/jobs/${claim.id}/log${query}`,
      });
      const page: JobLog = response.json();
      expect(page.items.length).toBeLessThan(LINES.length);
      messages.push(...page.items.map(({ message }) => message));
      query = page.nextCursor === null ? null : `?cursor=${page.nextCursor}`;
    }
    expect(messages).toEqual(MESSAGES);
  });

  test("of a running execution is an array of bounded size, and the Link header leads through the rest of it, also past the end", async () => {
    await scene.start();
    const claim = await scene.claimOne();
    await scene.store.appendLog(claim, LINES);
    const first = await scene.app.inject({ url: `/hosted/${claim.id}/log` });
    await scene.store.finish(claim, SUCCESS);
    const pages = [first];
    for (let url = readNext(first); url !== ""; url = readNext(pages.at(-1) ?? first))
      pages.push(await scene.app.inject({ url }));
    for (const { statusCode, body } of pages)
      expect([statusCode, body.length < 1_200_000]).toEqual([200, true]);
    expect(pages.flatMap(readMessages)).toEqual(MESSAGES);
    expect(pages).toHaveLength(3);
  });

  test("is refused for a cursor that is made up or given twice", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    for (const query of ["cursor=x", "cursor=1&cursor=2"]) {
      const response = await scene.app.inject({ url: `/hosted/${id}/log?${query}` });
      expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    }
  });
});

describe("result", () => {
  test("is 404 RESULT_NOT_READY with Retry-After before the end", async () => {
    const { id } = (await scene.start()).json<{ id: string }>();
    const response = await scene.app.inject({ url: `/hosted/${id}/result` });
    expect([response.statusCode, response.json()]).toMatchObject([404, { code: "RESULT_NOT_READY" }]);
    expect(response.headers["retry-after"]).toBe("1");
  });

  test("is 410 RESULT_EXPIRED for an id from before the retention, and 404 for a younger one that is not there", async () => {
    const [older, younger] = [
      await scene.readResultAged(RETENTION_DAYS + 1),
      await scene.readResultAged(RETENTION_DAYS - 1),
    ];
    expect([older.statusCode, older.json()]).toMatchObject([410, { code: "RESULT_EXPIRED" }]);
    expect([younger.statusCode, younger.json()]).toMatchObject([404, { code: "EXECUTION_NOT_FOUND" }]);
  });

  test("can be fetched until the expiry that the state announces, which counts from the end, and is 410 from then on", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    const { endedAt, expiresAt } = (await scene.app.inject({ url: `/hosted/${id}` })).json<
      Record<string, string>
    >();
    expect(toTime(expiresAt) - toTime(endedAt)).toBe(RETENTION_DAYS * DAY);
    const readAll = async () =>
      Promise.all(["", "/result", "/log"].map((path) => scene.app.inject({ url: `/hosted/${id}${path}` })));
    scene.setNow(toTime(expiresAt) - 1);
    expect((await readAll()).map(({ statusCode }) => statusCode)).toEqual([200, 200, 410]);
    scene.setNow(toTime(expiresAt) + 1000);
    for (const response of await readAll())
      expect([response.statusCode, response.json()]).toMatchObject([410, { code: "RESULT_EXPIRED" }]);
  });

  test("has a log that can be fetched until an expiry of its own, and is 410 LOG_EXPIRED from then on", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    const { endedAt, logExpiresAt } = (await scene.app.inject({ url: `/hosted/${id}` })).json<
      Record<string, string>
    >();
    expect(toTime(logExpiresAt) - toTime(endedAt)).toBe(LOG_RETENTION_DAYS * DAY);
    const readLog = async () => scene.app.inject({ url: `/hosted/${id}/log` });
    scene.setNow(toTime(logExpiresAt) - 1);
    expect((await readLog()).statusCode).toBe(200);
    scene.setNow(toTime(logExpiresAt) + 1000);
    const expired = await readLog();
    expect([expired.statusCode, expired.json()]).toMatchObject([410, { code: "LOG_EXPIRED" }]);
  });

  test.each([
    { says: { result: 3, log: null }, result: 3, log: 3 },
    { says: { result: null, log: 45 }, result: 30, log: 30 },
    { says: { result: 50, log: 40 }, result: 50, log: 40 },
    { says: { result: 300, log: 300 }, result: 60, log: 60 },
  ])("is kept as its service says ($says), at most as the operator allows", async ({ says, result, log }) => {
    const id = await scene.startAndFinish(SUCCESS, says);
    const { endedAt, expiresAt, logExpiresAt } = (await scene.app.inject({ url: `/hosted/${id}` })).json<
      Record<string, string>
    >();
    const days = [expiresAt, logExpiresAt].map((time) => (toTime(time) - toTime(endedAt)) / DAY);
    expect(days).toEqual([result, log]);
  });

  test("of an execution that waited longer than the retention is there when it has ended", async () => {
    const id = createUuidAt(Date.now() - (RETENTION_DAYS + 5) * DAY);
    await scene.store.create({
      id,
      owner: createOwner("alice"),
      versionId: TARGET.id,
      resources: TARGET.resources,
      timeoutSeconds: TARGET.timeoutSeconds,
      body: Buffer.from("{}"),
      references: {},
    });
    await scene.store.finish(await scene.claimOne(), SUCCESS);
    expect((await scene.app.inject({ url: `/hosted/${id}/result` })).statusCode).toBe(200);
  });

  test("is an envelope at the gateway", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    expect((await scene.app.inject({ url: `/hosted/${id}/result` })).json()).toMatchObject({
      result: { length: 7542 },
      metadata: null,
      _links: { self: { href: `/hosted/${id}/result` }, status: { href: `/hosted/${id}` } },
      _embedded: { status: { id, status: "SUCCEEDED" } },
    });
  });

  test("is flat on the local server, with snake case times, also when the output is empty", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    expect((await scene.app.inject({ url: `/${id}/result` })).json()).toEqual({
      length: 7542,
      _links: { status: { href: `/${id}` } },
      _embedded: {
        status: {
          id,
          status: "SUCCEEDED",
          created_at: expect.stringMatching(TIMESTAMP),
          started_at: expect.stringMatching(TIMESTAMP),
          ended_at: expect.stringMatching(TIMESTAMP),
        },
      },
    });
    const empty = await scene.startAndFinish({ ...SUCCESS, result: Buffer.from("{ }") });
    expect(Object.keys((await scene.app.inject({ url: `/${empty}/result` })).json())).toEqual([
      "_links",
      "_embedded",
    ]);
  });

  test.each(["/hosted", ""])(
    "is 200 with code and detail of a failure at %s/, and what it used",
    async (base) => {
      const failure = { code: "TIMEOUT", detail: "too long", metadata: { _usage: { cpuSeconds: 0.5 } } };
      const id = await scene.startAndFinish({ status: "FAILED", ...failure });
      const response = await scene.app.inject({ url: `${base}/${id}/result` });
      expect([response.statusCode, response.json()]).toMatchObject([
        200,
        { ...failure, _embedded: { status: { status: "FAILED" } } },
      ]);
    },
  );
});

describe("receipt", () => {
  test("says what was executed, with digests that the caller can make", async () => {
    const metadata = Buffer.from('{"_usage":{"cpuSeconds":0.5,"peakMemoryBytes":null}}');
    const id = await scene.startAndFinish({ ...SUCCESS, metadata });
    for (const prefix of ["/hosted", "/jobs", ""]) {
      const response = await scene.app.inject({ url: `${prefix}/${id}/receipt` });
      expect(response.statusCode).toBe(200);
      const { receipt } = response.json<{ receipt: string }>();
      expect(JSON.parse(receipt)).toEqual({
        executionId: id,
        serviceKey: "key",
        service: "tour",
        version: "1.0.0",
        versionDigest: `sha256:${"c".repeat(64)}`,
        requirementsDigest: `sha256:${"d".repeat(64)}`,
        python: "3.13.1",
        // printf '{}' | sha256sum
        inputDigest: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        inputBytes: 2,
        // printf '{"length": 7542}' | sha256sum
        resultDigest: "sha256:8fc52241a52f9a5fdc146b6d65714ee7e7375799d09b5a6baa0f439439ca1d4b",
        resultBytes: 16,
        status: "SUCCEEDED",
        createdAt: expect.stringMatching(TIMESTAMP),
        startedAt: expect.stringMatching(TIMESTAMP),
        endedAt: expect.stringMatching(TIMESTAMP),
        cpuSeconds: 0.5,
        sandboxLevel: "B",
      });
    }
  });

  test("of a failure has its code and what it used, and no result", async () => {
    const failure = { code: "TIMEOUT", detail: "too long", metadata: { _usage: { cpuSeconds: 7 } } };
    const id = await scene.startAndFinish({ status: "FAILED", ...failure });
    const response = await scene.app.inject({ url: `/hosted/${id}/receipt` });
    const said = JSON.parse(response.json<{ receipt: string }>().receipt) as object;
    expect(said).toMatchObject({ status: "FAILED", code: "TIMEOUT", cpuSeconds: 7 });
    expect(said).not.toHaveProperty("resultDigest");
  });

  test("is there from the end on, until the result expires", async () => {
    const { id } = (await scene.start()).json<{ id: string }>();
    const early = await scene.app.inject({ url: `/hosted/${id}/receipt` });
    expect([early.statusCode, early.json<{ code: string }>().code]).toEqual([404, "RESULT_NOT_READY"]);
    await scene.store.finish(await scene.claimOne(), SUCCESS);
    expect((await scene.app.inject({ url: `/hosted/${id}/receipt` })).statusCode).toBe(200);
    const foreign = await scene.app.inject({ url: `/hosted/${id}/receipt`, headers: { "x-owner": "bob" } });
    expect(foreign.json()).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    scene.setNow(Date.now() + (RETENTION_DAYS + 1) * DAY);
    const late = await scene.app.inject({ url: `/hosted/${id}/receipt` });
    expect([late.statusCode, late.json<{ code: string }>().code]).toEqual([410, "RESULT_EXPIRED"]);
  });
});
