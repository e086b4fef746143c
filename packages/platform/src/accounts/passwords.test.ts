import { expect, test } from "vitest";
import { createPasswords } from "./passwords.ts";

const PASSWORD = "correct horse battery";
/** Written by better-auth 1.7.5 for PASSWORD. */
const FORMER_HASH =
  "743103a4d6773ed250eca5c4f29220df:525d651b8157bc5b12e345371e0a723b696b9a4d9da6127e5cd03cfbd8bd7a6aade780df19049ffca926255394e0f8957c3d5810b8be04414a41c74eb362db16";

test("a hash names its cost, is different each time, and is only of its password", async () => {
  const passwords = createPasswords();
  const [first, second] = await Promise.all([passwords.hash(PASSWORD), passwords.hash(PASSWORD)]);
  expect(first).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/u);
  expect(second).not.toBe(first);
  expect(await passwords.verify(first, PASSWORD)).toEqual({ isValid: true, isOutdated: false });
  expect(await passwords.verify(first, `${PASSWORD} `)).toMatchObject({ isValid: false });
  expect(await passwords.verify(first, "")).toMatchObject({ isValid: false });
});

test("a hash of an earlier release is verified, and called outdated", async () => {
  const passwords = createPasswords();
  expect(await passwords.verify(FORMER_HASH, PASSWORD)).toEqual({ isValid: true, isOutdated: true });
  expect(await passwords.verify(FORMER_HASH, "correct horse batterz")).toMatchObject({ isValid: false });
});

test("one password in two forms of Unicode is the same", async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash("Ame\u0301lie passwords");
  expect(await passwords.verify(hash, "Am\u00e9lie passwords")).toMatchObject({ isValid: true });
});

test.each([null, "", "$scrypt$", "0:0", "$argon2id$v=19$m=1,t=1,p=1$YQ$YQ"])(
  "nothing is the password of %j",
  async (stored) => {
    expect(await createPasswords().verify(stored, PASSWORD)).toEqual({ isValid: false, isOutdated: false });
  },
);

test("who is unknown costs as much as who has a hash, of this release or an earlier one", async () => {
  const passwords = createPasswords();
  const current = await passwords.hash(PASSWORD);
  const measure = async (stored: string | null) => {
    const before = process.cpuUsage();
    await passwords.verify(stored, "a wrong password");
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await measure(null);
  const costs = { unknown: [] as number[], current: [] as number[], former: [] as number[] };
  const compare = () => {
    const least = Math.min(...costs.unknown);
    return [costs.current, costs.former].map((others) => Math.min(...others) / least);
  };
  const isAlike = () => compare().every((ratio) => ratio > 0.67 && ratio < 1.5);
  // What else this process and its processors do is in some measures, and in none of the least after enough of them.
  for (let round = 0; round < 5 || (round < 60 && !isAlike()); round++) {
    costs.unknown.push(await measure(null));
    costs.current.push(await measure(current));
    costs.former.push(await measure(FORMER_HASH));
  }
  for (const ratio of compare()) {
    expect(ratio).toBeGreaterThan(0.67);
    expect(ratio).toBeLessThan(1.5);
  }
});

test("of too many at the same time the last are refused, the others answered", async () => {
  const passwords = createPasswords();
  const tries = Array.from({ length: 60 }, () => passwords.verify(null, PASSWORD));
  const settled = await Promise.allSettled(tries);
  const refused = settled.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(8);
  expect(refused[0]).toMatchObject({ reason: { code: "UNAVAILABLE", headers: { "retry-after": "5" } } });
});
