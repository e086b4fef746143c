import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { OFFERED_KEY, RETIRED_VERSION } from "../testing/market.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
  await home.createProject("demo");
});
afterEach(async () => {
  await Promise.all([home.close(), peer.close()]);
});

const call = (...words: readonly string[]) =>
  home.run(words, {
    folder: "demo",
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });

async function write(name: string, content: string): Promise<void> {
  const path = join(home.directory, "demo", name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

async function deploy(): Promise<void> {
  peer.scriptBuild([{ status: "SUCCEEDED", terminal: true, log: [], nextOffset: 0 }]);
  expect((await call("up")).exitCode).toBe(0);
}

test("a project's service is published, internally unless it is said otherwise, and taken back", async () => {
  await deploy();
  const internal = await call("publish");
  expect(internal.stdout).toContain("Applications of this organisation can subscribe to demo.");
  const everybody = await call("publish", "demo", "--to", "marketplace", "--json");
  expect(JSON.parse(everybody.stdout)).toMatchObject({ name: "demo", publication: "marketplace" });
  const back = await call("unpublish");
  expect([back.exitCode, back.stdout]).toEqual([0, "No application can subscribe to demo any more.\n"]);
  expect((await call("publish", "demo", "--to", "world")).exitCode).toBe(2);
});

test("a service says for how long results and logs are kept, and takes it back", async () => {
  await deploy();
  const set = await call("services", "set", "--result-days", "60", "--log-days", "1");
  expect([set.exitCode, set.stdout]).toEqual([0, "Results 60 days\nLogs    1 day\n"]);
  const back = await call("services", "set", "demo", "--result-days", "0", "--json");
  expect(JSON.parse(back.stdout)).toMatchObject({ resultDays: null, logDays: 1 });
  expect((await call("services", "set")).exitCode).toBe(2);
  expect((await call("services", "set", "--log-days", "-1")).exitCode).toBe(2);
  expect((await call("services")).stdout).toContain("demo");
});

test("a listing is shown, changed in part, and what is named is taken away", async () => {
  await deploy();
  expect((await call("listing")).stdout).toMatch(/^Title +demo\nSummary +-\n/u);
  await write("icon.png", "an image");
  await write("example.json", '{"data": {"n": 1}}');
  const words = ["--tags", "routing, trips", "--contact", "ada@example.org", "--icon", "icon.png"];
  const set = await call("listing", "demo", "--title", "Trips", ...words, "--example", "example.json");
  expect([set.exitCode, set.stderr]).toEqual([0, ""]);
  const changed = await call("listing", "--summary", "Short ones", "--clear", "contact,tags", "--json");
  expect(JSON.parse(changed.stdout)).toMatchObject({
    title: "Trips",
    summary: "Short ones",
    tags: [],
    contact: null,
    icon: `data:image/png;base64,${Buffer.from("an image").toString("base64")}`,
    exampleInput: { data: { n: 1 } },
    sharesFigures: false,
    // What was changed is that of the revision that was read.
    revision: 2,
  });
});

test("figures are shared and hidden by the listing, and what else is changed leaves that as it is", async () => {
  await deploy();
  expect((await call("listing", "--figures", "share")).stdout).toContain("Figures  shared\n");
  expect((await call("listing", "--summary", "Long ones")).stdout).toContain("Figures  shared\n");
  expect((await call("listing", "--figures", "hide")).stdout).toContain("Figures  not shared\n");
  expect((await call("listing", "--figures", "maybe")).exitCode).toBe(2);
});

test.each([
  [["--icon", "platform.json"], 1, "none of .png"],
  [["--icon", "missing.png"], 1, "cannot be read"],
  [["--icon", "folder.png"], 1, "is no file"],
  [["--example", "missing.json"], 1, "does not exist"],
  [["--example", "notes.md"], 1, "is not JSON"],
  [["--clear", "title"], 2, "knows no 'title'"],
  [["--title", ""], 2, "must not be empty"],
])("a listing is not changed by %j, and it is said why", async (words, exitCode, reason) => {
  await deploy();
  await write("folder.png/file", "");
  await write("notes.md", "# Demo");
  const refused = await call("listing", ...words);
  expect([refused.exitCode, refused.stderr]).toEqual([exitCode, expect.stringContaining(reason)]);
  expect(peer.requests.filter((request) => request.startsWith("PUT"))).toEqual([]);
});

test("a version is retired, and a service without one is deleted", async () => {
  await deploy();
  const retired = await call("retire", "1.0.0");
  expect([retired.exitCode, retired.stdout]).toEqual([0, "Version 1.0.0 of demo takes no new executions.\n"]);
  expect(JSON.parse((await call("retire", "1.0.0", "demo", "--json")).stdout)).toMatchObject({
    status: "RETIRED",
  });
  expect((await call("retire", "2.0.0")).exitCode).toBe(1);
  const gone = await call("services", "rm", "demo");
  expect([gone.exitCode, gone.stdout]).toEqual([0, "Deleted demo.\n"]);
  expect((await call("services", "rm", "demo", "--json")).exitCode).toBe(1);
  expect((await call("services", "rm")).exitCode).toBe(2);
});

test("a plan is written with its prices and limits, listed and withdrawn", async () => {
  await deploy();
  const words = ["--currency", "EUR", "--monthly", "9.90", "--per-cpu-second", "0.01", "--cap", "5000"];
  const made = await call(
    "plans",
    "put",
    "pro",
    "--unit",
    "cpu-second",
    "--included",
    "10",
    "--per-minute",
    "60",
    "--applications",
    "3",
    "--concurrent",
    "4",
    ...words,
    "--json",
  );
  expect(JSON.parse(made.stdout)).toMatchObject({
    id: "pro",
    name: "pro",
    currency: "EUR",
    monthly: "9.90",
    perCpuSecond: "0.01",
    unit: "cpu-second",
    included: 10,
    limits: { perMonth: 5000, perMinute: 60, concurrent: 4, applications: 3 },
  });
  const listed = await call("plans", "ls");
  expect(listed.stdout).toMatch(
    /pro +pro +1 +9\.90 EUR a month \+ 0\.01 EUR a CPU-second +10 cpu-seconds +5000 cpu-seconds +60 +4 +3$/mu,
  );
  const late = await call("plans", "put", "pro", "--revision", "0");
  expect([late.exitCode, late.stderr]).toEqual([
    1,
    expect.stringContaining("conflicts with the current state"),
  ]);
  expect((await call("plans", "put", "pro", "--revision", "1")).stdout).toMatch(/pro +pro +2 +free/u);
  expect((await call("plans", "rm", "pro")).stdout).toBe("The plan pro takes no new subscriptions.\n");
  expect((await call("plans", "ls")).stdout).toBe("No plans yet.\n");
  expect((await call("plans", "put", "pro", "--monthly", "-1")).exitCode).not.toBe(0);
});

test("services are searched by words and tags, and shown, without control characters of others", async () => {
  const found = await call("marketplace", "search", "round trips", "--tag", "routing");
  expect(found.stdout).toContain("Quantum Lab (lab)");
  expect(found.stdout).toContain(OFFERED_KEY);
  expect(found.stdout).not.toContain("\u001b");
  expect(found.stdout).toContain("from 5 EUR a month + 0.01 EUR a CPU-second");
  expect(found.stdout).toMatch(/98 % +1\.4 s/u);
  const ordered = await call("marketplace", "search", "--sort", "price", "--json");
  const everything = await call("marketplace", "search", "--json");
  expect(JSON.parse(ordered.stdout)).toEqual((JSON.parse(everything.stdout) as unknown[]).toReversed());
  const free = await call("marketplace", "search", "--free", "--json");
  expect(JSON.parse(free.stdout)).toHaveLength(1);
  expect((await call("marketplace", "search", "--sort", "colour")).exitCode).toBe(2);
  expect((await call("marketplace", "search", "nothing")).stdout).toBe("No service was found.\n");
  const shown = await call("marketplace", "show", OFFERED_KEY);
  expect(shown.stdout).toContain("Ran       98 % succeeded in 30 days, median 1.4 s\n");
  expect(shown.stdout).toContain(`platform subscribe ${OFFERED_KEY} APPLICATION`);
  expect(shown.stdout).not.toContain("\u001b");
  expect((await call("marketplace", "show", "nothing")).exitCode).toBe(1);
});

test("an application is subscribed by its name, and its subscription is paused, pinned and ended", async () => {
  const made = await call("subscribe", OFFERED_KEY, "shop", "--plan", "pro", "--version", "1");
  expect(made.stdout).toBe("https://gateway.example.org/tsp/1.2.0/\n");
  expect(made.stderr).toContain("Subscribed to tsp with the plan pro: subscription-1.");
  const change = ["subscriptions", "change", "subscription-1"];
  const paused = await call(...change, "--pause", "--version", "1.2.0", "--json");
  expect(JSON.parse(paused.stdout)).toMatchObject({ status: "PAUSED", version: "1.2.0" });
  const resumed = await call(...change, "--resume", "--version", "latest", "--json");
  expect(JSON.parse(resumed.stdout)).toMatchObject({ status: "ACTIVE", version: null });
  expect((await call("subscriptions", "ls")).stdout).toMatch(
    /subscription-1 +tsp +ACTIVE +pro +3\.5\/100 CPU-s +2\/4 +latest +yes /u,
  );
  expect((await call("subscriptions", "rm", "subscription-1")).stdout).toBe("The subscription is removed.\n");
  expect((await call("subscriptions", "ls")).stdout).toContain("No subscriptions yet");
  const [nothing, both] = [await call(...change), await call(...change, "--pause", "--resume")];
  expect([nothing.exitCode, both.exitCode]).toEqual([2, 2]);
});

test("a subscription to a version that was retired says so, and how it is changed", async () => {
  await call("subscribe", OFFERED_KEY, "shop", "--version", RETIRED_VERSION);
  const { stdout } = await call("subscriptions", "ls");
  expect(stdout).toMatch(/subscription-1 +tsp +ACTIVE .* 1\.1\.0 \(retired\) +yes /u);
  expect(stdout).toContain("Starts of the version of subscription-1 are refused: it is retired.");
  expect(stdout).toContain("'platform subscriptions change subscription-1 --version 1.2.0'");
});

test("a service is named by its name, unless several have it", async () => {
  const made = await call("subscribe", "tsp", "shop", "--json");
  expect(JSON.parse(made.stdout)).toMatchObject({ serviceKey: OFFERED_KEY });
  expect((await call("marketplace", "show", "tsp")).stdout).toContain(OFFERED_KEY);
  const several = await call("subscribe", "knapsack", "shop");
  expect(several.exitCode).toBe(1);
  expect(several.stderr).toContain("several services named 'knapsack'");
  expect(several.stderr).toContain("Quantum Lab (quantum-lab): 0198c1de-7a53-4000-8000-000000000001");
  // The search finds beginnings of words as well.
  const none = await call("subscribe", "round trips", "shop");
  expect([none.exitCode, none.stderr]).toEqual([
    1,
    expect.stringContaining("No service named 'round trips' can be subscribed to."),
  ]);
});

test("a provider ends a subscription with a reason, which the subscriber reads", async () => {
  await deploy();
  await call("subscribe", OFFERED_KEY, "shop");
  const end = ["subscriptions", "end", "subscription-1", "demo"];
  expect((await call(...end)).exitCode).toBe(2);
  expect((await call(...end, "--reason", "Closed")).stdout).toContain("it starts nothing any more");
  const listed = await call("subscriptions", "ls");
  expect(listed.stdout).toMatch(/subscription-1 +tsp +ENDED/u);
  expect(listed.stdout).toContain("subscription-1 was ended by the provider: Closed\n");
  // It could change what a terminal shows.
  expect((await call(...end, "--reason", "Closed \u001b[31m")).exitCode).toBe(1);
  expect((await call("subscriptions", "end", "nothing", "demo", "--reason", "Closed")).exitCode).toBe(1);
});

test("a provider sees who has subscribed", async () => {
  await deploy();
  const listed = await call("subscriptions", "ls", "--of", "demo");
  expect(listed.stdout).toMatch(/Lab +shop +PAUSED +pro +1 +1234 +2026-11-20 21:17:00/u);
});
