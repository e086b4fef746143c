import { pino } from "pino";
import { Type } from "typebox";
import { afterAll, expect, test } from "vitest";
import { Nullable, StringEnum } from "@platform/contract/schemas";
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
    scope: StringEnum(["internal", "marketplace"], { description: "Who" }),
    kind: Type.Literal("plan"),
    amount: Type.Union([Type.String(code), Type.Number({ minimum: 0 })]),
  }),
  { additionalProperties: false },
);
app.post("/things", { schema: { body } }, () => ({}));
const named = Type.Object(
  { name: Type.String(), days: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
app.post("/named", { schema: { body: named } }, () => ({}));

afterAll(() => app.close());

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
    "body/currency must be string or null.",
    'body/bare must match pattern "^x$".',
  ]);
});

test("a refused field is told what may be there: its values, or that there is no such property", async () => {
  const said: unknown[] = [];
  for (const payload of [{ scope: "world" }, { kind: "x" }, { role: "owner" }, { ["x".repeat(99)]: 1 }])
    said.push((await app.inject({ method: "POST", url: "/things", payload })).json().detail);
  const things = "known are price, bare, currency, scope, kind, amount";
  expect(said).toEqual([
    "body/scope must be one of internal, marketplace.",
    "body/kind must be plan.",
    `body must not have the property role; ${things}.`,
    `body must not have the property ${"x".repeat(50)}; ${things}.`,
  ]);
});

test("of a union, what refuses a value of its type is said, and to others which types there are", async () => {
  const said: unknown[] = [];
  for (const amount of [null, "euro", -1])
    said.push((await app.inject({ method: "POST", url: "/things", payload: { amount } })).json().detail);
  expect(said).toEqual([
    "body/amount must be string or number.",
    "body/amount is not as expected: Three letters, such as EUR.",
    "body/amount must be >= 0.",
  ]);
});

test("where a property is missing, those that are misspelt are named as well, and what they may mean", async () => {
  const said: unknown[] = [];
  for (const payload of [{ nmae: "a" }, { color: 1 }, { name: "a", dasy: 1 }, { a1: 1, a2: 1, a3: 1, a4: 1 }])
    said.push((await app.inject({ method: "POST", url: "/named", payload })).json().detail);
  expect(said).toEqual([
    "body must have required property 'name'. body must not have the property nmae (did you mean name?).",
    "body must have required property 'name'. body must not have the property color; known are name, days.",
    "body must not have the property dasy (did you mean days?).",
    `body must have required property 'name'. ${["a1", "a2", "a3"].map((name) => `body must not have the property ${name}; known are name, days.`).join(" ")}`,
  ]);
});
