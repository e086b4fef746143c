import { describe, expect, test } from "vitest";
import { readTraceContext } from "./trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

test("a context is passed on as it came", () => {
  expect(readTraceContext({ traceparent: TRACEPARENT })).toEqual({ traceparent: TRACEPARENT });
  const tracestate = "rojo=00f067aa0ba902b7,acme@vendor=t61rcWkgMzE";
  expect(readTraceContext({ traceparent: TRACEPARENT, tracestate })).toEqual({
    traceparent: TRACEPARENT,
    tracestate,
  });
});

test("of a later version, what this one knows is taken", () => {
  for (const more of ["", "-what-is-new"])
    expect(readTraceContext({ traceparent: `cc-${TRACE}-${PARENT}-01${more}` })).toEqual({
      traceparent: TRACEPARENT,
    });
});

describe("a malformed traceparent counts as none", () => {
  test.each([
    "",
    "nonsense",
    TRACEPARENT.toUpperCase(),
    ` ${TRACEPARENT}`,
    `${TRACEPARENT}-more`,
    `${TRACEPARENT}, ${TRACEPARENT}`,
    `${TRACEPARENT}\n`,
    `cc-${TRACE}-${PARENT}-01more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-0g`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    "0".repeat(100_000),
  ])("%j", (traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: "a=1" })).toBeNull();
  });
});

describe("a malformed tracestate is left out alone", () => {
  test.each([
    "a",
    "=1",
    "A=1",
    "a=1,a=2",
    "a=b=c",
    "a=\u00e9",
    "a=1;b\n=2",
    `a=${"x".repeat(300)}`,
    ["a", "b", "c"].map((key) => `${key}=${"x".repeat(200)}`).join(","),
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(","),
    ",".repeat(512),
  ])("%j", (tracestate) => {
    expect(readTraceContext({ traceparent: TRACEPARENT, tracestate })).toEqual({ traceparent: TRACEPARENT });
  });

  test("empty members and several headers are as one", () => {
    expect(readTraceContext({ traceparent: TRACEPARENT, tracestate: [" a=1 ,,", "b=2\t"] })).toMatchObject({
      tracestate: "a=1,b=2",
    });
  });
});
