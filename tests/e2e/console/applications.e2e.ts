import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../../tools/platform-client.ts";
import { inviteMember } from "./support/members.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
});
afterAll(() => world.close());

/** What the platform API answers to the first login in an organisation. */
async function call<T>(organizationId: string, method: string, path: string, json?: unknown): Promise<T> {
  const { body } = await request<T>(method, `${world.login.apiUrl}/api${path}`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": organizationId },
    ...(json === undefined ? {} : { json }),
  });
  return body;
}

async function fetchToken(keyId: string, secret: string): Promise<number> {
  const { status } = await request("POST", `${world.platform.gatewayUrl}/token`, {
    headers: { authorization: `Basic ${btoa(`${keyId}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  return status;
}

test("an application is created, and its key's secret is shown once: not after a reload, nor in a later answer", async () => {
  const { slug } = await world.createOrganisation("Once");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications`);
  await page.getByRole("button", { name: "New application" }).first().click();
  await page.getByLabel("Name").fill("nightly batch");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly batch" }).waitFor();

  await page.getByRole("tab", { name: "Keys" }).click();
  const answers: string[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "GET")
      void response.text().then(
        (text) => answers.push(text),
        () => undefined,
      );
  });
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  await dialog.waitFor();
  const [keyId = "", secret = ""] = await dialog.locator("dd .mono").allTextContents();
  expect(await fetchToken(keyId, secret)).toBe(200);
  // The names that the downloaded clients read (clients/python/platform_client/client.py).
  const file = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download platform.env" }).click();
  expect(await readFile(await (await file).path(), "utf8")).toBe(
    `PLATFORM_ACCESS_KEY_ID=${keyId}\nPLATFORM_ACCESS_KEY_SECRET=${secret}\n`,
  );

  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("cell", { name: keyId }).waitFor();
  expect(page.url()).not.toContain(secret);
  await page.reload();
  await page.getByRole("cell", { name: keyId }).waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(answers.filter((text) => text.includes(secret))).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a rotated key and its predecessor both work until the grace ends, and a revoked one fails within seconds", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Rotation");
  const application = await call<{ id: string }>(organisation, "POST", "/applications", { name: "caller" });
  const key = await call<{ keyId: string; secret: string }>(
    organisation,
    "POST",
    `/applications/${application.id}/access-keys`,
  );
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications/${application.id}?tab=keys`);
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  await dialog.waitFor();
  const [keyId = "", secret = ""] = await dialog.locator("dd .mono").allTextContents();
  expect([await fetchToken(key.keyId, key.secret), await fetchToken(keyId, secret)]).toEqual([200, 200]);
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();

  const row = page.getByRole("row").filter({ hasText: key.keyId });
  await row.getByText("Replaced").waitFor();
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoked").waitFor();
  await expect.poll(() => fetchToken(key.keyId, key.secret)).toBe(401);
  expect(await fetchToken(keyId, secret)).toBe(200);
  expect(complaints).toEqual([]);
});

test("what an organisation calls its applications runs nowhere, and a refusal is shown at its field", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Hostile");
  const name = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
  const application = await call<{ id: string }>(organisation, "POST", "/applications", { name });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications/${application.id}`);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(name);
  expect(await page.title()).not.toBe("run");

  await page.getByRole("button", { name: "Rename" }).click();
  const field = page.getByRole("dialog").getByLabel("Name");
  await field.fill("two\u200blines");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill("renamed");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "renamed" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a viewer sees the pages, and the buttons say why they do nothing", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Viewed");
  const application = await call<{ id: string }>(organisation, "POST", "/applications", { name: "seen" });
  const viewer = await inviteMember(world, organisation, "viewer");
  const { page, open, complaints } = await world.visit({ as: viewer });
  await open(`/o/${slug}/applications`);
  const button = page.getByRole("button", { name: "New application" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await button.focus();
  await page
    .getByRole("tooltip")
    .getByText(/You are viewer of Viewed; this needs the role/u)
    .waitFor();
  await button.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);
  await open(`/o/${slug}/applications/${application.id}?tab=keys`);
  expect(await page.getByRole("button", { name: "New key" }).first().getAttribute("aria-disabled")).toBe(
    "true",
  );
  expect(complaints).toEqual([]);
});
