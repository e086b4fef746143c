import type { Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";
import { compareScrolling } from "./support/scroll-cost.ts";

const PROGRAM = `
import os, sys, time

def run(data, params):
    mode = params["mode"]
    if mode == "follow":
        number = 0
        while not os.path.exists(params["until"]):
            print(f"line {number} <script>alert(1)</script>", flush=True)
            number += 1
            time.sleep(0.05)
    if mode == "late":
        print("the first line", flush=True)
        time.sleep(8)
        print("the last line")
    if mode == "long":
        for number in range(100_000):
            sys.stdout.write(f"line {number}\\n")
    return {}
`;
/** A bare list takes 1; going through all lines in each frame takes 2.4 and more. */
const FLUID = 2;
type Visit = Awaited<ReturnType<ConsoleWorld["visit"]>>;

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;

beforeAll(async () => {
  world = await joinConsole();
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  slug = me.body.organization.slug;
  serviceKey = (await world.deploy(await world.createProject("writing", PROGRAM))).serviceKey;
});
afterAll(() => world?.close());

async function start(params: Readonly<Record<string, string>>): Promise<string> {
  const path = `/jobs?serviceKey=${serviceKey}`;
  return (await expectOk(world.api<{ id: string }>("POST", path, { params }))).id;
}

async function readStatus(id: string): Promise<string> {
  return (await world.api<{ status: string }>("GET", `/executions/${id}`)).body.status;
}

const openLog = ({ open }: Visit, id: string) => open(`/o/${slug}/executions/${id}?tab=log`);

/** In the browser: as if another tab were in front. */
function setHidden(hidden: boolean): void {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}

test("a running execution's log follows; scrolling up holds it; returning to the end follows again", async () => {
  const until = `/tmp/never-${Date.now()}`;
  const id = await start({ mode: "follow", until });
  const visit = await world.visit();
  const { page } = visit;
  await openLog(visit, id);
  const log = page.getByRole("log", { name: "Log" });
  const scroll = () =>
    log.evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
      top: scrollTop,
      fromEnd: scrollHeight - scrollTop - clientHeight,
      height: scrollHeight,
    }));
  await expect.poll(async () => (await scroll()).top).toBeGreaterThan(100);
  await expect.poll(async () => (await scroll()).fromEnd).toBeLessThan(40);
  expect(await log.textContent()).toContain("<script>alert(1)</script>");

  await log.hover();
  await page.mouse.wheel(0, -400);
  await page.getByRole("button", { name: "Go to the end" }).waitFor();
  const held = await scroll();
  await expect.poll(async () => (await scroll()).height).toBeGreaterThan(held.height + 100);
  expect((await scroll()).top).toBe(held.top);

  await log.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.getByRole("button", { name: "Following" }).waitFor();
  await expect.poll(async () => (await scroll()).fromEnd).toBeLessThan(40);

  // A browser has six connections to a host: a page that lies behind others holds none, and goes on where it was.
  const isStream = (request: Request) => request.url().includes(`/executions/${id}/events`);
  const [cut] = await Promise.all([
    page.waitForEvent("requestfailed", { predicate: isStream }),
    page.evaluate(setHidden, true),
  ]);
  expect(cut.failure()?.errorText).toBe("net::ERR_ABORTED");
  const [next] = await Promise.all([page.waitForRequest(isStream), page.evaluate(setHidden, false)]);
  expect(await next.headerValue("last-event-id")).toMatch(/\d/u);

  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("CANCELLED").first().waitFor();
  await page.getByText("What to do:").waitFor();
  expect(visit.complaints).toEqual([]);
});

test("100,000 lines of a log are there, few of them are drawn, and scrolling stays fluid", async () => {
  const id = await start({ mode: "long" });
  await expect.poll(() => readStatus(id)).toBe("SUCCEEDED");
  const visit = await world.visit();
  await openLog(visit, id);
  const log = visit.page.getByRole("log", { name: "Log" });
  await visit.page.getByText("100,000 lines", { exact: true }).waitFor();
  await expect.poll(() => log.textContent()).toContain("line 99999");
  expect(await log.locator(".log-line").count()).toBeLessThan(120);
  expect(await compareScrolling(log, ".log-line", FLUID)).toBeLessThan(FLUID);
  await visit.page.getByLabel("Find in the log").fill("line 5000");
  await visit.page.getByText("100,000 lines, 11 shown").waitFor();
});

test("the log of an incoming execution is read to its last line, also where that is written behind the last answer", async () => {
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
  const other = await world.createOrganisation("Sharing");
  const call = (method: string, path: string, json: unknown) => callIn(world, other.id, method, path, json);
  const { id: applicationId } = await call("POST", "/applications", { name: "theirs" });
  const subscription = await call("POST", "/subscriptions", { applicationId, serviceKey, planId: "free" });
  await call("PUT", `/subscriptions/${subscription["id"]}`, { sharesLogs: true });
  const path = `/subscriptions/${subscription["id"]}/executions`;
  const { id = "" } = await call("POST", path, { params: { mode: "late" } });
  await expect.poll(() => readStatus(id)).toBe("RUNNING");
  const visit = await world.visit();
  const { page } = visit;
  let answers = 0;
  await page.route(/\/log\?/u, async (route) => {
    const response = await route.fetch();
    const { nextSeq } = (await response.json()) as { nextSeq: string | null };
    answers += 1;
    // From before the end, and there behind it.
    if (nextSeq !== null && answers > 1) await page.getByText("Succeeded").first().waitFor();
    await route.fulfill({ response });
  });
  await openLog(visit, id);
  const log = page.getByRole("log", { name: "Log" });
  await log.getByText("the first line").waitFor();
  await log.getByText("the last line").waitFor();
  await page.getByText("2 lines", { exact: true }).waitFor();
  expect(visit.complaints).toEqual([]);
});
