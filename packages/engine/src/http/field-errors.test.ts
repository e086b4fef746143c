import { pino } from "pino";
import { Type } from "typebox";
import { afterEach, expect, test } from "vitest";
import { Nullable } from "@platform/contract/schemas";
import { REQUEST_TIMES } from "./body-deadline.ts";
import { createHttpServer } from "./server.ts";

const app = createHttpServer({ logger: pino({ level: "silent" }), times: REQUEST_TIMES });
app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) =>
  done(null, JSON.parse(String(body))),
);
const code = { pattern: "^[A-Z]{3}$", description: "Three letters", examples: ["EUR"] };
const body = Type.Partial(
  Type.Object({
    price: Type.String(code),
    bare: Type.String({ pattern: "^x$" }),
    currency: Nullable(Type.String(code)),
  }),
);
app.post("/things", { schema: { body } }, () => ({}));

afterEach(() => app.close());

test("a refused field is told what is expected, as its description says, without regular expressions", async () => {
  const said: unknown[] = [];
  for (const payload of [{ price: "euro" }, { currency: "euro" }, { currency: 1 }, { bare: "y" }]) {
    const response = await app.inject({ method: "POST", url: "/things", payload });
    expect(response.statusCode).toBe(400);
    said.push(response.json().detail);
  }
  expect(said).toEqual([
    "body/price is not as expected: Three letters, such as EUR.",
    "body/currency is not as expected: Three letters, such as EUR.",
    "body/currency must be string. body/currency must be null. body/currency must match a schema in anyOf.",
    'body/bare must match pattern "^x$".',
  ]);
});
