import { expect, test } from "vitest";
import { createSandboxUsers } from "./users.ts";

const RANGE = { uidBase: 300_000, uidCount: 10_000, uid: 0, gid: 0, trustsCode: false };

test("two workers of a machine, which have the same range, do not give their versions the same users", () => {
  const [one, other] = [createSandboxUsers(RANGE), createSandboxUsers(RANGE)];
  const [uids, others] = [one, other].map((take) => Array.from({ length: 10 }, () => take().uid));
  // Not never: of 10,000, ten and ten meet about once in a hundred times, and all of them never.
  expect(uids).not.toEqual(others);
  expect(new Set(uids).size).toBe(10);
  for (const uid of [...(uids ?? []), ...(others ?? [])]) {
    expect(uid).toBeGreaterThanOrEqual(300_000);
    expect(uid).toBeLessThan(310_000);
  }
});

test("all users of a range are given, each once, and one that was given back again", () => {
  const take = createSandboxUsers({ ...RANGE, uidCount: 3 });
  const users = [take(), take(), take()];
  expect(new Set(users.map(({ uid }) => uid))).toEqual(new Set([300_000, 300_001, 300_002]));
  expect(take).toThrow("all 3 uids from 300000 on are in use");
  users[1]?.release();
  expect(take().uid).toBe(users[1]?.uid);
});
