import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../../tools/platform-client.ts";
import { REPOSITORY } from "../../../tools/platform-process.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const CONSOLE = join(REPOSITORY, "packages/console");
const COOKIE = "platform_session";

interface Manifest {
  readonly files: readonly { readonly path: string; readonly type: string; readonly immutable: boolean }[];
}

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world?.close());

/** What a page of another origin shows and sends: same host, another port, so that the cookie goes with it. */
async function serveElsewhere(html: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

test("every file of the build is sent once and for all, and compressed; pages are never kept, each with a nonce of its own", async () => {
  const { apiUrl } = world.login;
  const { files } = JSON.parse(await readFile(join(CONSOLE, "dist/manifest.json"), "utf8")) as Manifest;
  expect(files.length).toBeGreaterThan(30);
  for (const { path, type, immutable } of files) {
    const { status, headers } = await fetch(`${apiUrl}${path}`, { headers: { "accept-encoding": "br" } });
    expect([path, status, headers.get("content-type")]).toEqual([path, 200, type]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": immutable ? "public, max-age=31536000, immutable" : "public, max-age=3600",
      "content-encoding": "br",
      vary: "accept-encoding",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    });
    const known = await fetch(`${apiUrl}${path}`, {
      headers: { "accept-encoding": "br", "if-none-match": headers.get("etag") ?? "" },
    });
    expect([path, known.status]).toEqual([path, 304]);
  }
  const nonces = new Set<string>();
  const pages = ["/", "/sign-in", "/o/alpine/services", "/account/tokens", "/jobs/1", "/nowhere"];
  for (const path of pages) {
    const { status, headers } = await fetch(`${apiUrl}${path}`, { headers: { accept: "text/html" } });
    expect([path, status, headers.get("cache-control")]).toEqual([path, 200, "no-store"]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    nonces.add(/'nonce-([^']+)'/u.exec(policy)?.[1] ?? "");
  }
  expect(nonces.size).toBe(pages.length);
});

test("a session that was there before signing in is not the one after it", async () => {
  const { page, open, context } = await world.visit({ as: null });
  const planted = "A".repeat(43);
  await context.addCookies([{ name: COOKIE, value: planted, url: world.login.apiUrl }]);
  await open("/sign-in");
  await page.getByLabel("Email address").fill(world.login.email);
  await page.getByLabel("Password", { exact: true }).fill(world.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/o\//u);
  const cookies = (await context.cookies()).filter(({ name }) => name === COOKIE);
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: "Lax" });
  expect(cookies[0]?.value).not.toContain(planted);
  const asPlanted = await request("GET", `${world.login.apiUrl}/api/me`, {
    headers: { cookie: `${COOKIE}=${planted}`, "x-requested-by": "console", "sec-fetch-site": "same-origin" },
  });
  expect(asPlanted.status).toBe(401);
});

test("a form that another origin sends with the user's cookie changes nothing", async () => {
  const { page, open, context } = await world.visit();
  await open("/account");
  // As text/plain it is sent as {"name": "Taken over", "ignored": "="}.
  const body = `<input type="hidden" name='{"name": "Taken over", "ignored": "' value='"}'>`;
  const forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"].map(
    (type) =>
      `<form method="post" enctype="${type}" action="${world.login.apiUrl}/api/organizations">${body}<button>${type}</button></form>`,
  );
  const elsewhere = await serveElsewhere(forms.join(""));
  const statuses: number[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "POST") statuses.push(response.status());
  });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    await page.goto(elsewhere.url);
    // The cookie is sent: cookies know no ports.
    expect((await context.cookies(elsewhere.url)).map(({ name }) => name)).toContain(COOKIE);
    await page.getByRole("button", { name: type }).click();
    await page.waitForURL(/\/api\/organizations$/u);
  }
  elsewhere.close();
  expect(statuses.length).toBe(3);
  expect(statuses.filter((status) => status < 400)).toEqual([]);
  const { body: organisations } = await world.api<{ items: { name: string }[] }>("GET", "/organizations");
  expect(organisations.items.map(({ name }) => name)).not.toContain("Taken over");
});

test("no other page can put the console into a frame of its own, to have its user press buttons unseen", async () => {
  const { page } = await world.visit();
  const elsewhere = await serveElsewhere(
    `<iframe src="${world.login.apiUrl}/account" style="opacity: 0"></iframe>`,
  );
  await page.goto(elsewhere.url);
  const [, frame] = page.frames();
  await expect.poll(() => frame?.url()).toContain("chrome-error:");
  expect(await frame?.locator("body").textContent()).not.toContain("Rename");
  elsewhere.close();
});

test("a token in a URL signs nobody in, and a page passes its own URL on to nobody", async () => {
  const { apiUrl, gatewayUrl } = world.login;
  const token = world.login.personalAccessToken;
  for (const name of ["token", "access_token", "personal_access_token", "key"]) {
    const { status } = await request("GET", `${apiUrl}/api/me?${name}=${token}`);
    expect([name, status === 400 || status === 401]).toEqual([name, true]);
  }
  const { page, open } = await world.visit({ as: null });
  await open(`/invitations/no-such-token-of-anybody`).catch(() => undefined);
  await page.evaluate(async (url) => {
    await fetch(`${url}/healthz`, { mode: "no-cors" }).catch(() => undefined);
  }, gatewayUrl);
  expect(await page.evaluate(() => document.referrer)).toBe("");
  const headers = await fetch(`${apiUrl}/sign-in`, { headers: { accept: "text/html" } });
  expect(headers.headers.get("referrer-policy")).toBe("no-referrer");
});

test("without a network the page says so and stays, and with it everything goes on", async () => {
  const { slug } = await world.createOrganisation("Offline");
  const { page, open, context } = await world.visit();
  await open(`/o/${slug}/applications`);
  await context.setOffline(true);
  await page.getByText("There is no network.").waitFor();
  await page.getByRole("link", { name: "Data pools" }).click();
  await page.getByRole("progressbar", { name: "Loading the page" }).waitFor({ state: "attached" });
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Applications");
  await context.setOffline(false);
  await page.getByText("There is no network.").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Data pools" }).waitFor();
});

test("an organisation that is deleted while it is open is not found any more, and the way out is shown", async () => {
  const { id, slug } = await world.createOrganisation("Vanishing");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/applications`);
  const { status } = await request("DELETE", `${world.login.apiUrl}/api/organizations/${id}`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": id },
  });
  expect(status).toBe(204);
  await page.getByRole("link", { name: "Data pools" }).click();
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  await page.getByRole("link", { name: "Go to the first page" }).click();
  await page.waitForURL((url) => !url.pathname.includes(slug));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
});

test("a console that was replaced by a newer one loads itself again, once, where a part of it is gone", async () => {
  const { slug } = await world.createOrganisation("Newer");
  const { page, open } = await world.visit();
  await open(`/o/${slug}`);
  await page.evaluate(() => Reflect.set(globalThis, "isFormer", true));
  // The server has the parts of the newer console alone, until the page is of it as well.
  let loads = 0;
  page.on("domcontentloaded", () => (loads += 1));
  await page.route(/\/assets\/marketplace-page-[^/]*\.js$/u, (route) =>
    loads === 0 ? route.fulfill({ status: 404, body: "" }) : route.continue(),
  );
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Marketplace" }).click();
  await page.getByRole("heading", { level: 1, name: "Marketplace" }).waitFor();
  expect(await page.evaluate(() => Reflect.has(globalThis, "isFormer"))).toBe(false);
  expect(loads).toBe(1);
});
