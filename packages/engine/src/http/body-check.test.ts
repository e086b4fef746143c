import { afterAll, expect, test } from "vitest";
import { POLICIES_API } from "@platform/contract/platform-api/policies";
import pino from "pino";
import { createBodyCheck } from "./body-check.ts";
import { createHttpServer } from "./server.ts";

const { body: SCHEMA } = POLICIES_API.putPolicy;
const app = createHttpServer({ logger: pino({ level: "silent" }) });
app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) =>
  done(null, JSON.parse(String(text))),
);
app.put("/", { schema: { body: SCHEMA } }, async () => ({}));
afterAll(() => app.close());

const check = createBodyCheck(SCHEMA);

test.each([
  { timeoutSeconds: 0 },
  { timeoutSeconds: "600" },
  { timeoutSeconds: 1.5 },
  { retrys: {} },
  { priority: "highest" },
  { concurrency: { service: 10_001 } },
  { concurrency: { services: 1 } },
  { retries: { onError: { max: 2 } } },
  { retries: { onError: { max: 2, backoffSeconds: 1, codes: ["CANCELLED"] } } },
  { retries: null },
  [],
])(
  "what a request is refused for with the policy %j, a check of the same schema says in the same words",
  async (policy) => {
    const sent = { revision: 0, policy };
    const answer = await app.inject({ method: "PUT", url: "/", payload: sent });
    expect(answer.statusCode).toBe(400);
    const { errors } = answer.json<{ readonly errors: readonly object[] }>();
    expect(errors.length).toBeGreaterThan(0);
    expect(check(sent)).toEqual({ isValid: false, errors });
  },
);

test("what a request may have, a check takes as it is", async () => {
  const policy = { timeoutSeconds: 600, concurrency: { service: 8 }, retries: { onLost: "retry" } };
  const sent = { revision: 0, policy };
  expect((await app.inject({ method: "PUT", url: "/", payload: sent })).statusCode).toBe(200);
  expect(check(sent)).toEqual({ isValid: true, value: sent });
});
