import { expect, test } from "vitest";
import { auditSearch, toAuditFilter } from "./filter.ts";

test("the filter of the address is the platform's, and what the platform would refuse is left out", () => {
  expect(
    toAuditFilter(auditSearch({ actor: "ada@example.org", action: "access-key.revoke", target: "k1" })),
  ).toEqual({ actor: "ada@example.org", action: "access-key.revoke", targetId: "k1" });
  expect(
    toAuditFilter(auditSearch({ actor: "a".repeat(400), action: "no-such.action", after: "yesterday" })),
  ).toEqual({ actor: "a".repeat(200) });
});
