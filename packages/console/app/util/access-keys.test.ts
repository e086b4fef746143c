import { expect, test } from "vitest";
import { findUsable } from "./access-keys.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const BEFORE = "2026-11-28 11:59:59";
const LATER = "2026-11-28 12:00:01";
const key = (keyId: string, more: Partial<Parameters<typeof findUsable>[0][number]> = {}) => ({
  keyId,
  revokedAt: null,
  expiresAt: null,
  replacedBy: null,
  ...more,
});

test("a key that has expired or is revoked is not called with, and one that was replaced only for want of another", () => {
  const expired = key("expired", { expiresAt: BEFORE });
  const revoked = key("revoked", { revokedAt: BEFORE });
  const replaced = key("replaced", { expiresAt: LATER, replacedBy: "next" });
  const next = key("next", { expiresAt: LATER });
  expect(findUsable([expired, revoked, replaced, next], NOW)?.keyId).toBe("next");
  expect(findUsable([expired, revoked, replaced], NOW)?.keyId).toBe("replaced");
  expect(findUsable([expired, revoked], NOW)).toBeUndefined();
});
