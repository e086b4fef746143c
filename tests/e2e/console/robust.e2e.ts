import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../../tools/platform-client.ts";
import { REPOSITORY } from "../../../tools/platform-process.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";

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

interface Elsewhere {
  readonly url: string;
  /** The headers of what was asked there. */
  readonly requests: readonly IncomingHttpHeaders[];
  readonly close: () => void;
}

/** What a page of another origin shows and sends: same host, another port, so that the cookie goes with it. */
async function serveElsewhere(html: string): Promise<Elsewhere> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    requests.push(headers);
    response.setHeader("content-type", "text/html");
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, requests, close: () => server.close() };
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

/** In the browser: whether a request leaves the page. */
const askFor = (url: string) =>
  fetch(url, { mode: "no-cors" }).then(
    () => "sent",
    () => "refused",
  );

test("a token in a URL signs nobody in, and a page passes its own URL on to nobody", async () => {
  const { apiUrl } = world.login;
  const token = world.login.personalAccessToken;
  for (const name of ["token", "access_token", "personal_access_token", "key"]) {
    const { status } = await request("GET", `${apiUrl}/api/me?${name}=${token}`);
    expect([name, status === 400 || status === 401]).toEqual([name, true]);
  }
  const { page, open } = await world.visit({ as: null });
  const referers: Promise<string | null>[] = [];
  page.on("request", (one) => referers.push(one.headerValue("referer")));
  await open("/invitations/no-such-token-of-anybody");
  const elsewhere = await serveElsewhere("<h1>Elsewhere</h1>");
  // A script that had got into the page could pass it on neither.
  expect(await page.evaluate(askFor, elsewhere.url)).toBe("refused");
  expect(elsewhere.requests).toEqual([]);
  await page.evaluate((url) => {
    const link = document.createElement("a");
    link.href = url;
    document.body.append(link);
    link.click();
  }, elsewhere.url);
  await page.getByRole("heading", { name: "Elsewhere" }).waitFor();
  expect(await page.evaluate(() => document.referrer)).toBe("");
  expect(elsewhere.requests.map(({ referer }) => referer)).toContain(undefined);
  elsewhere.close();
  const passed = await Promise.all(referers);
  expect(passed.length).toBeGreaterThan(5);
  expect(passed.filter((referer) => referer !== null)).toEqual([]);
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

test("what is sent without a network is refused at once and kept in its form, and is not sent later behind the user's back", async () => {
  const { id, slug } = await world.createOrganisation("Unsent");
  const { page, open, context } = await world.visit();
  await open(`/o/${slug}/applications?new=application`);
  await context.setOffline(true);
  const dialog = page.getByRole("dialog", { name: "New application" });
  const name = dialog.getByLabel("Name of the application");
  await name.fill("nightly");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("alert").getByText("The platform cannot be reached").waitFor();
  expect(await name.inputValue()).toBe("nightly");
  await context.setOffline(false);
  await page.getByText("There is no network.").waitFor({ state: "detached" });
  await page.waitForResponse((response) => response.url().includes("/api/applications"));
  const { body } = await request<{ items: unknown[] }>("GET", `${world.login.apiUrl}/api/applications`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": id },
  });
  expect(body.items).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly" }).waitFor();
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

test("an address that was edited by hand shows its page, or leads to one where there is none", async () => {
  const { slug } = await world.createOrganisation("Edited");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/executions?q=%00&code=${"x".repeat(3_000)}`);
  await page.getByRole("heading", { level: 1, name: "Executions" }).waitFor();
  // A tag may have spaces around it: its field is left as it was.
  await open(`/o/${slug}/quantum-jobs?tag=+x`);
  await page.getByLabel("Tag").focus();
  await page.getByLabel("Tag").blur();
  expect(new URL(page.url()).search).toBe("?tag=+x");
  await open(`/o/${slug}/services/%00`);
  await page.getByRole("heading", { level: 1, name: "This page could not be shown" }).waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  const { body: service } = await world.api<{ key: string }>("POST", "/services", { name: "edited" });
  const { body: me } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  for (const version of ["abc", "9.9.9"]) {
    await open(`/o/${me.organization.slug}/services/${service.key}/versions/${version}`);
    await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  }
  for (const path of [
    "/%5C%5Cconsole.invalid/x",
    "/%2F%2Fconsole.invalid/x",
    `/o/${slug}/services/%5C..%5C`,
  ]) {
    await open(path);
    await page
      .getByRole("heading", { level: 1, name: /^Not found|^This page could not be shown/u })
      .waitFor();
    expect(new URL(page.url()).origin).toBe(world.login.apiUrl);
  }
  await page.getByRole("link", { name: "Go to the first page" }).click();
  await page.waitForURL(`**/o/${slug}`);
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
  // A part that is gone for good: loading again and again would not bring it.
  await page.route(/\/assets\/executions-page-[^/]*\.js$/u, (route) =>
    route.fulfill({ status: 404, body: "" }),
  );
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Executions" }).click();
  await page.getByRole("heading", { level: 1, name: "This page could not be shown" }).waitFor();
});

/** In the browser. */
const describeFocus = () =>
  document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName;

test("where the browser has no clipboard for pages, copying keeps the focus, and says where it fails", async () => {
  const { id, slug } = await world.createOrganisation("Plain");
  const application = await callIn(world, id, "POST", "/applications", { name: "plain" });
  const { page, open } = await world.visit();
  // As on plain http from another machine.
  await page.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined }),
  );
  await open(`/o/${slug}/executions`);
  await page.getByRole("button", { name: "Copy command" }).press("Enter");
  await page.getByRole("button", { name: "Copied command" }).waitFor();
  expect(await page.evaluate(describeFocus)).toBe("Copied command");
  const find = page.getByLabel("Find", { exact: true });
  await find.press("Control+V");
  await expect.poll(() => find.inputValue()).toBe("platform run");

  await open(`/o/${slug}/applications/${application["id"]}?tab=keys`);
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  await dialog.getByRole("button", { name: "Copy secret" }).press("Enter");
  await dialog.getByRole("button", { name: "Copied secret" }).waitFor();
  expect(await page.evaluate(describeFocus)).toBe("Copied secret");

  await page.evaluate(() => (document.execCommand = () => false));
  await dialog.getByRole("button", { name: "Copy key id" }).press("Enter");
  await dialog.getByRole("button", { name: "Not copied: key id" }).getByText("Not copied").waitFor();
  expect(await page.evaluate(describeFocus)).toBe("Not copied: key id");
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Copy as" }).click();
  await page.getByRole("menuitem", { name: "Identifier" }).click();
  await page.getByRole("alert").getByText("Identifier could not be copied").waitFor();
});

/** What is around an element. */
const readLine = (one: Locator) =>
  one.evaluate((element) => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
    return [outlineStyle, outlineWidth, outlineColor].join(" ");
  });

test("where the browser shows a few colours of the user alone, what is chosen still differs from what is not", async () => {
  const { slug } = await world.createOrganisation("Contrast");
  const { page, open } = await world.visit();
  await page.emulateMedia({ forcedColors: "active" });
  await open(`/o/${slug}/executions`);
  const navigation = page.getByRole("navigation", { name: "Pages" });
  for (const [chosen, other] of [
    [page.getByRole("tab", { selected: true }), page.getByRole("tab", { selected: false }).first()],
    [navigation.getByRole("link", { name: "Executions" }), navigation.getByRole("link", { name: "Usage" })],
  ] as const) {
    expect(await readLine(chosen)).toMatch(/^solid 3px/u);
    expect(await readLine(other)).toMatch(/^none/u);
  }
});
