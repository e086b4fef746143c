import { afterAll, beforeAll, expect, test } from "vitest";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world.close());

test("a user signs in, and a wrong password says nothing about which part was wrong", async () => {
  const { page, open, complaints } = await world.visit({ as: null });
  const { email, password } = world.login;
  await open("/");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();

  const refuse = async (address: string, secret: string) => {
    await page.getByLabel("Email address").fill(address);
    await page.getByLabel("Password", { exact: true }).fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "INVALID_CREDENTIALS" });
    await alert.waitFor();
    return await alert.textContent();
  };
  const wrongPassword = await refuse(email, "not the password");
  await page.reload();
  const wrongAddress = await refuse("nobody@example.org", password);
  expect(wrongPassword).toBe(wrongAddress);

  await page.getByLabel("Email address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
  const { body } = await world.api<{ organization: { name: string } }>("GET", "/me");
  await page.getByRole("heading", { level: 1, name: body.organization.name }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/o\/[a-z0-9-]+$/u);
  expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
});

test("whoever opens a page without a session signs in, and comes to that page", async () => {
  const { slug } = await world.createOrganisation("Next");
  const { page, open } = await world.visit({ as: null });
  await open(`/o/${slug}/applications?new=application`);
  await page.getByLabel("Email address").fill(world.login.email);
  await page.getByLabel("Password", { exact: true }).fill(world.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("dialog", { name: "New application" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/o/${slug}/applications`);
});

test("signing out makes the Back button show the sign-in page", async () => {
  const { slug } = await world.createOrganisation("Leaving");
  const { page, open, context } = await world.visit();
  await open(`/o/${slug}/applications`);
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await context.cookies()).toEqual([]);
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.getByText("Applications").count()).toBe(0);
});
