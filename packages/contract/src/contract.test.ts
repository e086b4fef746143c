import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { createClient, RequestRefused } from "./client.ts";
import { canMove, EXECUTION_STATUSES, formatTimestamp, isFinal } from "./execution.ts";
import { createPlatformOpenApi } from "./platform-api/openapi.ts";
import type { Operation } from "./operation.ts";
import { PLATFORM_API } from "./platform-api/platform-api.ts";
import { SERVICE_API } from "./service-api.ts";
import { createServiceOpenApi } from "./service-openapi.ts";

const TYPED = {
  type: "object",
  properties: { data: { $ref: "#/$defs/Point" }, params: { type: "object" } },
  $defs: { Point: { type: "object", properties: { next: { $ref: "#/$defs/Point" } } } },
};

function describeService(inputSchema: Readonly<Record<string, unknown>> | null, tokenUrl: string | null) {
  return createServiceOpenApi({
    name: "demo",
    version: "1.2.3",
    description: "",
    server: { url: "https://gateway.example.org/key/demo/1.2.3", description: "" },
    inputSchema,
    tokenUrl,
  });
}

describe("the OpenAPI documents are valid by the specification's own schema", () => {
  test.each([
    ["of the platform", createPlatformOpenApi()],
    ["of a service", describeService(null, "https://gateway.example.org/token")],
    ["of a service with types", describeService(TYPED, "https://gateway.example.org/token")],
    ["of a local server", describeService(TYPED, null)],
  ])("%s", async (_whose, document) => {
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("references of a service's types lead to its components", () => {
    const text = JSON.stringify(describeService(TYPED, null));
    expect(text).not.toContain("#/$defs/");
    const document = JSON.parse(text) as { components: { schemas: Record<string, unknown> } };
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
      expect(Object.keys(document.components.schemas)).toContain(name);
  });
});

describe("the states of an execution", () => {
  const MOVES = [
    "PENDING RUNNING",
    "PENDING FAILED",
    "RUNNING SUCCEEDED",
    "RUNNING FAILED",
    "RUNNING UNKNOWN",
    "RUNNING PENDING",
  ];

  test("are five, and move as the specification says and in no other way", () => {
    expect([...EXECUTION_STATUSES].sort()).toEqual(["FAILED", "PENDING", "RUNNING", "SUCCEEDED", "UNKNOWN"]);
    const moves = EXECUTION_STATUSES.flatMap((from) =>
      EXECUTION_STATUSES.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`),
    );
    expect(moves.sort()).toEqual(MOVES.toSorted());
  });

  test("are final for these three", () => {
    expect(EXECUTION_STATUSES.filter(isFinal).sort()).toEqual(["FAILED", "SUCCEEDED", "UNKNOWN"]);
  });

  test("show their times in UTC to the second", () => {
    expect(formatTimestamp(Date.UTC(2026, 10, 20, 21, 17, 0, 999))).toBe("2026-11-20 21:17:00");
  });
});

describe("the rows of the operation tables", () => {
  const rows: readonly (readonly [string, Operation])[] = [
    ...Object.entries(SERVICE_API),
    ...Object.entries(PLATFORM_API),
  ];

  test.each(rows)("%s reads without a trace, or names what it changes in the audit log", (_id, row) => {
    const reads = row.method === "GET";
    expect(row.audit === null).toBe(reads);
    expect(row.audit ?? "thing.read").toMatch(/^[a-z-]+\.[a-z]+$/);
    expect(row.rate === "read" || row.rate === "poll").toBe(reads);
  });

  test.each(rows)("%s takes and answers what its modes say", (_id, row) => {
    expect(row.body ? ["json", "raw"] : ["none", "stream"]).toContain(row.bodyMode);
    const answers = Object.values(row.responses).some((response) => response.schema !== undefined);
    expect(answers ? ["json", "bytes"] : ["none"]).toContain(row.answerMode);
  });

  test.each(rows)(
    "%s is open to every caller only where all that it shows is the caller's own",
    (_id, row) => {
      expect(row.allows === "caller").toBe(row.scope !== "organisation");
    },
  );

  test("share an audit name with no other", () => {
    const names = rows.flatMap(([, { audit }]) => (audit === null ? [] : [audit]));
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("the client", () => {
  interface Sent {
    readonly url: string;
    readonly init: RequestInit;
  }

  function create(answer: Response, baseUrl = "https://example.org/api") {
    const sent: Sent[] = [];
    const options = {
      baseUrl,
      headers: () => ({ authorization: "Bearer t" }),
      fetch: async (url: unknown, init: RequestInit = {}) => {
        sent.push({ url: String(url), init });
        return answer.clone();
      },
    };
    return {
      sent,
      platform: createClient(PLATFORM_API, options),
      service: createClient(SERVICE_API, options),
    };
  }

  test.each(["https://example.org/api", "https://example.org/api/", "https://example.org/api///"])(
    "puts ids and queries safely into the URL below %s",
    async (baseUrl) => {
      const { sent, platform } = create(Response.json({}), baseUrl);
      await platform.getBuild({ params: { key: "a/b?c#d%", version: "1.0.0" }, query: { offset: 7 } });
      await platform.listServices({ query: { name: "a&b=c", limit: undefined } as never });
      expect(sent.map(({ url }) => url)).toEqual([
        "https://example.org/api/services/a%2Fb%3Fc%23d%25/versions/1.0.0/build?offset=7",
        "https://example.org/api/services?name=a%26b%3Dc",
      ]);
    },
  );

  test("sends JSON, prefers to wait, and authorises", async () => {
    const { sent, service } = create(Response.json({}, { status: 201 }));
    await service.startExecution({ body: { data: { a: 1 } }, prefer: "wait=5" });
    expect(sent[0]?.init).toMatchObject({
      method: "POST",
      body: '{"data":{"a":1}}',
      headers: { authorization: "Bearer t", "content-type": "application/json", prefer: "wait=5" },
    });
  });

  test.each([
    [
      Response.json({ code: "NOT_FOUND", detail: "No." }, { status: 404 }),
      { code: "NOT_FOUND", detail: "No." },
    ],
    [new Response("<html>", { status: 502 }), { code: "HTTP_502" }],
  ])("throws what the server refused with", async (answer, problem) => {
    const refused = await create(answer)
      .platform.getMe({})
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RequestRefused);
    expect(refused).toMatchObject({ status: answer.status, problem });
  });
});
