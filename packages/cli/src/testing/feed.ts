/** A page with two events, one with a hostile code, and nothing behind them. */
export function readFeed(serviceKey: string, after: string | undefined) {
  if (after !== "0") return { items: [], cursor: after ?? "end" };
  const event = {
    executionId: "0198c1de-7a53-7000-8000-000000000009",
    at: "2026-11-20 21:17:00",
    serviceKey,
    version: "1.0.0",
    subscriptionId: null,
  };
  const items = [
    { ...event, cursor: "first", status: "PENDING" as const, kind: "job" as const },
    { ...event, cursor: "second", status: "FAILED" as const, code: "\u001b[2J", kind: "incoming" as const },
  ];
  return { items, cursor: "second" };
}
