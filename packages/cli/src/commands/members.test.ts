import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
});
afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const call = (...words: readonly string[]) =>
  home.run(words, {
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });

test("members are listed, get another role by their address, and are removed", async () => {
  const listed = await call("members");
  expect(listed.stdout).toMatch(/ada@example\.org +Ada +owner .*\nbob@example\.org +Bob +viewer /u);
  const changed = await call("members", "Bob@example.org", "--role", "maintainer", "--json");
  expect(JSON.parse(changed.stdout)).toMatchObject({ userId: "user-2", role: "maintainer" });
  const removed = await call("members", "bob@example.org", "--remove");
  expect([removed.exitCode, removed.stdout]).toEqual([0, "Removed bob@example.org.\n"]);
  expect(peer.requests.at(-1)).toBe("DELETE /api/members/user-2");
});

test("who may not leave is told why", async () => {
  const left = await call("members", "me", "--remove");
  expect(left.exitCode).toBe(1);
  expect(left.stderr).toContain("An organisation needs an owner");
});

test("a change without a member, of nobody, or to no role is refused before it is sent", async () => {
  const [nameless, unknown, noRole] = [
    await call("members", "--role", "viewer"),
    await call("members", "eve@example.org", "--remove"),
    await call("members", "bob@example.org", "--role", "king"),
  ];
  expect([nameless.exitCode, unknown.exitCode, noRole.exitCode]).toEqual([2, 1, 2]);
  expect(unknown.stderr).toContain("no member 'eve@example.org'");
  expect(peer.requests.filter((request) => !request.startsWith("GET"))).toEqual([]);
});

test("an invitation prints its link, is listed without it, and is revoked", async () => {
  const made = await call("invite", "eve@example.org", "--role", "maintainer");
  expect(made.stdout).toBe("http://api.test/invitations/secret\n");
  expect(made.stderr).toContain("until 2026-11-27 21:17:00 UTC, for eve@example.org, as maintainer");
  const listed = await call("invitations");
  expect(listed.stdout).toMatch(/invitation-1 +eve@example\.org +maintainer +Ada /u);
  expect(listed.stdout).not.toContain("secret");
  const revoked = await call("invitations", "--revoke", "invitation-1");
  expect([revoked.exitCode, revoked.stdout]).toEqual([0, "The invitation was revoked.\n"]);
  expect((await call("invitations")).stdout).toContain("No open invitations");
});

test("an invitation is accepted by its link or by the link's last part", async () => {
  for (const link of [
    "http://api.test/invitations/secret",
    "http://api.test/invitations/secret/",
    "secret",
  ]) {
    const { exitCode, stdout } = await call("invitations", "--accept", link);
    expect([exitCode, stdout]).toEqual([0, "You are a member of Lab, as viewer.\n"]);
  }
  const refused = await call("invitations", "--accept", "http://api.test/invitations/other", "--json");
  expect([refused.exitCode, JSON.parse(refused.stdout).error.code]).toEqual([1, "LINK_EXPIRED"]);
  expect((await call("invitations", "--accept", "/")).exitCode).toBe(2);
});

test("an invitation is declined by its link, and its organisation reads so", async () => {
  expect((await call("invite", "new@example.org", "--role", "viewer")).exitCode).toBe(0);
  const declined = await call("invitations", "--decline", "http://api.test/invitations/secret");
  expect([declined.exitCode, declined.stdout]).toEqual([
    0,
    "The invitation was declined; its organisation can see that.\n",
  ]);
  expect((await call("invitations")).stdout).toContain("declined 2026-11-20 21:18:00");
  const again = await call("invitations", "--decline", "mistyped", "--json");
  expect([again.exitCode, JSON.parse(again.stdout).error.code]).toEqual([1, "NOT_FOUND"]);
  expect((await call("invitations", "--decline", "secret", "--accept", "secret")).exitCode).toBe(2);
});

test("who mistypes the link of an invitation is sent to the link, not to a list of other invitations", async () => {
  const { exitCode, stdout } = await call("invitations", "--accept", "mistyped", "--json");
  expect([exitCode, JSON.parse(stdout).error]).toEqual([
    1,
    {
      code: "NOT_FOUND",
      detail: "There is no such invitation.",
      hint: "Copy the whole link, or ask who sent it for a new one.",
    },
  ]);
});
