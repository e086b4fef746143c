import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["operator", ...words]);

const ID = "0198c1de-7a53-4000-8000-0000000000e0";

test("operator instance shows what the platform is, which settings differ, and no secret", async () => {
  const { exitCode, stdout } = await run("instance");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Version    1.2.2, 1.2.3\n");
  expect(stdout).toContain("Database   PostgreSQL 18.1 (embedded), 1.5 GB, 7 of 150 connections\n");
  expect(stdout).toContain("Disk       1.0 of 2.0 GB free: too little for uploads, builds and new runs\n");
  expect(stdout).toContain(
    "Waiting    1234 NO_WORKER, the oldest since 2026-11-20 21:17:00: no worker is running\n",
  );
  expect(stdout).toMatch(
    /worker-1 +node-1 +worker +1\.2\.3 +2 h +lost, 2026-11-20 21:17:00 +B +disk: It is full\./u,
  );
  expect(stdout).toMatch(/secret +\(secret\) +environment/u);
  expect(stdout).not.toContain("api-port");
  expect((await run("instance", "--all")).stdout).toMatch(/api-port +8090 +default/u);
});

test("operator drain and resume say what became of the worker, and fail where there is none", async () => {
  const works = /worker-1 +node-1 +works +3 +0 +1\.5\/4 +2\/8 +B +3\.13\.1/u;
  expect((await run("workers")).stdout).toMatch(works);
  expect((await run("drain", "worker-1")).stdout).toMatch(/worker-1 +node-1 +drains +3/u);
  expect(JSON.parse((await run("workers", "--json")).stdout)).toMatchObject([{ draining: true }]);
  expect((await run("resume", "worker-1")).stdout).toMatch(works);
  expect((await run("drain", "worker-2")).exitCode).toBe(1);
});

test("operator users finds users, and shows nothing that a terminal would obey", async () => {
  const { stdout } = await run("users", "eve@");
  expect(stdout).toMatch(/eve@example\.org +Eve\S* +enabled +2 +- +2026-11-20 21:17:00/u);
  expect(stdout).not.toContain("\u001b[31m");
  expect((await run("users", "--state", "disabled")).stdout).toContain("No user is as asked for.");
  expect((await run("users", "--state", "all")).exitCode).toBe(2);
});

test("operator disable and enable take an address, whatever its case, or an id", async () => {
  expect((await run("disable", "EVE@example.org")).stdout).toContain("disabled, 2026-11-20 21:17:00");
  expect((await run("enable", ID)).stdout).toContain("enabled");
  const unknown = await run("disable", "ev@example.org");
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr).toContain("The platform has no user 'ev@example.org'.");
});

test("operator reset-link prints the link alone on standard output", async () => {
  const { exitCode, stdout, stderr } = await run("reset-link", "eve@example.org", "--minutes", "5");
  expect([exitCode, stdout]).toEqual([0, "http://api.example.org/reset-password/token\n"]);
  expect(stderr).toContain("For eve@example.org, until 2026-11-20 21:17:00.");
  expect((await run("reset-link", "eve@example.org", "--minutes", "4")).exitCode).toBe(2);
});

test("operator storage shows what is stored, and for how long", async () => {
  const { exitCode, stdout } = await run("storage");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/archives +2 +1\.5 +As long as their version\./u);
});

test("operator organizations shows numbers", async () => {
  expect((await run("organizations")).stdout).toMatch(/lab +Lab +2 +3 +4 +5 +2026-11-20 21:17:00 +org-1/u);
});
