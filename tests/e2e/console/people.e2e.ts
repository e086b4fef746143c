import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Page } from "playwright-core";
import { startMailServer } from "../../support/mail-server.ts";
import type { MailServer } from "../../support/mail-server.ts";
import { request } from "../../../tools/platform-client.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { addPerson, callIn, createPerson, invite } from "./support/people.ts";
import type { Person } from "./support/people.ts";

let mail: MailServer;
let world: ConsoleWorld;
beforeAll(async () => {
  mail = await startMailServer();
  world = await openConsole({ flags: ["--sign-up", "open", "--smtp-url", mail.url] });
});
afterAll(async () => {
  await world.close();
  await mail.close();
});

const HOSTILE = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

/** Refusals that the story wants are noted by the browser as well. */
const isUnexpected = (text: string) => !/status of 4(?:01|03|09|10)/u.test(text);

async function fillIn(page: Page, { name, email, password }: Partial<Person>): Promise<void> {
  if (name !== undefined) await page.getByLabel("Your name").fill(name);
  if (email !== undefined) await page.getByLabel("Email address").fill(email);
  if (password !== undefined) await page.getByLabel("Password", { exact: true }).fill(password);
}

/** Where Back leads to from here. */
async function goBack(page: Page): Promise<string> {
  await page.goBack();
  return page.url();
}

test("an invitation link copied by the owner makes a second person a maintainer, and works once", async () => {
  const { slug, id } = await world.createOrganisation("Inviting");
  const owner = await world.visit();
  await owner.open(`/o/${slug}/members`);
  await owner.page.getByRole("button", { name: "Invite" }).click();
  const form = owner.page.getByRole("dialog", { name: "Invite somebody" });
  await form.getByLabel("Role").click();
  await owner.page.getByRole("option", { name: /^Maintainer/u }).click();
  await form.getByRole("button", { name: "Make the link" }).click();
  const shown = owner.page.getByRole("dialog", { name: "The link of the invitation" });
  await shown.getByRole("button", { name: "Copy link" }).click();
  await shown.getByRole("button", { name: "Copied link" }).waitFor();
  // Pages may not read the clipboard.
  const link = new URL((await shown.locator("dd .mono").textContent()) ?? "");
  const token = link.pathname.split("/").at(-1) ?? "";
  await shown.getByLabel("I have stored it").check();
  await shown.getByRole("button", { name: "Close" }).click();
  await owner.page.getByRole("cell", { name: "whoever has the link" }).waitFor();
  expect(await owner.page.content()).not.toContain(token);

  const ben = createPerson("Ben");
  const guest = await world.visit({ as: null });
  const referrers: string[] = [];
  guest.page.on("request", (one) => referrers.push(one.headers()["referer"] ?? ""));
  await guest.open("/sign-up");
  await guest.open(link.pathname);
  await guest.page.getByRole("heading", { name: "Invitation to Inviting" }).waitFor();
  await guest.page.getByText(/to become maintainer of Inviting/u).waitFor();
  await fillIn(guest.page, ben);
  await guest.page.getByRole("button", { name: "Create account and join" }).click();
  await expect.poll(() => new URL(guest.page.url()).pathname).toBe(`/o/${slug}`);
  // The link is nowhere any more: not in a request, not behind Back, not in what the browser keeps.
  expect(referrers.filter((one) => one.includes(token))).toEqual([]);
  const kept = await guest.page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
  );
  expect(kept).not.toContain(token);
  await guest.page.locator("h1").first().waitFor();
  expect(await goBack(guest.page)).not.toContain(token);

  const again = await world.visit({ as: null });
  await again.open(link.pathname);
  await again.page.getByRole("heading", { name: "This invitation cannot be used" }).waitFor();
  await again.page.getByText("The invitation was used, declined or revoked").waitFor();

  const { items } = await callIn<{ items: readonly Record<string, string>[] }>(world, id, "GET", "/members");
  expect(items.map(({ email, role }) => [email, role])).toEqual([
    [world.login.email, "owner"],
    [ben.email, "maintainer"],
  ]);
  expect([...owner.complaints, ...guest.complaints, ...again.complaints].filter(isUnexpected)).toEqual([]);
});

test(
  "who has an account signs in on the page of the invitation, and one for another address is refused there",
  { tags: "full" },
  async () => {
    const { id, slug } = await world.createOrganisation("Known");
    const [cleo, dora] = [createPerson("Cleo"), createPerson("Dora")];
    await addPerson(world, cleo);
    await addPerson(world, dora);
    const path = await invite(world, id, { role: "viewer", email: dora.email });
    const { page, open, complaints } = await world.visit({ as: cleo });
    await open(path);
    await page.getByText(`You are signed in as ${cleo.email}`).waitFor();
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByText("The invitation is for another email address").waitFor();

    await page.getByRole("button", { name: "Use another account" }).click();
    await page.getByText("Sign in", { exact: true }).click();
    await fillIn(page, { email: dora.email, password: dora.password });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(`You are signed in as ${dora.email}`).waitFor();
    await page.getByRole("button", { name: "Accept" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/o/${slug}`);

    await open(await invite(world, id, { role: "owner" }));
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByText("You are a member of this organisation already.").waitFor();
    expect(complaints.filter(isUnexpected)).toEqual([]);
  },
);

test(
  "an invitation is declined without an account, and its owner reads so in the list and in the audit log",
  { tags: "full" },
  async () => {
    const { id, slug } = await world.createOrganisation("Declined");
    const path = await invite(world, id, { role: "viewer", email: "gone@example.org" });
    const guest = await world.visit({ as: null });
    await guest.open("/sign-in");
    await guest.open(path);
    await guest.page.getByRole("heading", { name: "Invitation to Declined" }).waitFor();
    await guest.page.getByRole("button", { name: "Decline" }).click();
    await guest.page.getByRole("dialog").getByRole("button", { name: "Decline" }).click();
    await guest.page.getByRole("heading", { name: "The invitation was declined" }).waitFor();
    await guest.open(path);
    await guest.page.getByRole("heading", { name: "This invitation cannot be used" }).waitFor();

    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/audit?action=invitation.decline`);
    await page.getByRole("row").filter({ hasText: "invitation.decline" }).getByText("nobody known").waitFor();
    await open(`/o/${slug}/members`);
    const row = page.getByRole("row").filter({ hasText: "gone@example.org" });
    await row.getByText("Declined", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    expect([...guest.complaints, ...complaints].filter(isUnexpected)).toEqual([]);
  },
);

test("a forgotten password is set with the link of a mail, once, and what is asked for says nothing about who exists", async () => {
  const eve = createPerson("Eve");
  await addPerson(world, eve);
  const { page, open, complaints } = await world.visit({ as: null });
  const ask = async (email: string) => {
    await open("/sign-in");
    await page.getByRole("link", { name: "Forgotten the password?" }).click();
    await page.getByRole("heading", { name: "Forgotten password" }).waitFor();
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    const said = page.getByRole("status").filter({ hasText: "If there is an account" });
    await said.waitFor();
    return await said.textContent();
  };
  expect(await ask("nobody@example.org")).toBe(await ask(eve.email));
  // The newest mail to this address is the one that verifies it, until that with the link comes.
  await expect.poll(() => mail.mails.filter(({ to }) => to.includes(eve.email)).length).toBe(2);
  const token = await mail.readLink(eve.email);
  await open(`/reset-password/${token}`);
  await page.getByLabel("New password").fill("too short");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect.poll(() => page.getByLabel("New password").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("New password").fill("quite another password");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await fillIn(page, { email: eve.email, password: "quite another password" });
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/o\//u);
  expect(await goBack(page)).not.toContain(token);

  await open(`/reset-password/${token}`);
  await page.getByLabel("New password").fill("a third password of Eve");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("alert").filter({ hasText: "LINK_EXPIRED" }).waitFor();
  expect(complaints.filter(isUnexpected)).toEqual([]);
});

test("an address is verified with the link of the mail that signing up sends", async () => {
  const finn = createPerson("Finn");
  const { page, open, complaints } = await world.visit({ as: null });
  await open("/sign-in?next=/account");
  await page.getByRole("link", { name: "Create one" }).click();
  await fillIn(page, finn);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { level: 1, name: "Profile" }).waitFor();
  await page.getByText("Not verified").waitFor();
  await open(`/verify-email/${await mail.readLink(finn.email)}`);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("Verified", { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/account");
  expect(complaints.filter(isUnexpected)).toEqual([]);
});

test("a link that is opened without a session leaves its token nowhere in the history", async () => {
  const hal = createPerson("Hal");
  const first = await world.visit({ as: null });
  await first.open("/sign-up");
  await fillIn(first.page, hal);
  await first.page.getByRole("button", { name: "Create account" }).click();
  await expect.poll(() => new URL(first.page.url()).pathname).toMatch(/^\/o\//u);
  const token = await mail.readLink(hal.email);
  const { page, open, complaints } = await world.visit({ as: null });
  await open(`/verify-email/${token}`);
  await page.getByRole("link", { name: "Create one" }).click();
  await page.getByRole("button", { name: "Create account" }).waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  const signIn = page.getByRole("button", { name: "Sign in", exact: true });
  // The page before has a field of the same name.
  await signIn.waitFor();
  await fillIn(page, { email: hal.email, password: hal.password });
  await signIn.click();
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("Verified", { exact: true }).waitFor();
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send("Page.getNavigationHistory");
  expect(entries.map(({ url }) => url).filter((url) => url.includes(token))).toEqual([]);
  expect(complaints.filter(isUnexpected)).toEqual([]);
});

test("signing up leads to no other host, whatever the address says", async () => {
  for (const next of ["//evil.example", "https://evil.example", "/\\evil.example", "/.//evil.example"]) {
    const { page, open } = await world.visit();
    await open(`/sign-up?next=${encodeURIComponent(next)}`);
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/o\//u);
    expect(page.url().startsWith(`${world.login.apiUrl}/`)).toBe(true);
    await page.context().close();
  }
  const { page, open } = await world.visit({ as: null });
  await open("/sign-up?next=//evil.example");
  await fillIn(page, createPerson("Kim"));
  await page.getByRole("button", { name: "Create account" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/o\//u);
  expect(page.url().startsWith(`${world.login.apiUrl}/`)).toBe(true);
});

test("members are made owners and leave; the last owner is told why they stay", async () => {
  const { id, slug } = await world.createOrganisation("Roles");
  const gina = createPerson("Gina");
  await addPerson(world, gina, { of: id, role: "viewer" });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/members`);
  const own = page.getByRole("row").filter({ hasText: world.login.email });
  const leave = own.getByRole("button", { name: "Leave" });
  expect(await leave.getAttribute("aria-disabled")).toBe("true");
  await leave.focus();
  await page.getByRole("tooltip").getByText("An organisation needs an owner").waitFor();

  const row = page.getByRole("row").filter({ hasText: gina.email });
  await row.getByRole("button", { name: "Change role" }).click();
  const dialog = page.getByRole("dialog", { name: "Role of Gina" });
  await dialog.getByLabel("Role").click();
  await page.getByRole("option", { name: /^Owner/u }).click();
  await dialog.getByRole("button", { name: "Change" }).click();
  await row.getByRole("cell", { name: "owner", exact: true }).waitFor();

  await leave.click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await expect.poll(() => new URL(page.url()).pathname).not.toContain(slug);
  await open(`/o/${slug}/members`);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  expect(complaints.filter(isUnexpected)).toEqual([]);
});

test("an organisation that somebody is removed from while it is open is gone with the next look at it", async () => {
  const { id, slug } = await world.createOrganisation("Vanishing");
  const hana = createPerson("Hana");
  await addPerson(world, hana, { of: id, role: "maintainer" });
  const guest = await world.visit({ as: hana });
  await guest.open(`/o/${slug}/applications?new=application`);
  const dialog = guest.page.getByRole("dialog", { name: "New application" });
  await dialog.getByLabel("Name").fill("too late");
  // The page itself looks no more: what is pressed is the next look.
  const looks = /\/api\/applications$/u;
  await guest.page.route(looks, (route) =>
    route.request().method() === "GET" ? undefined : route.continue(),
  );
  const { page, open } = await world.visit();
  await open(`/o/${slug}/members`);
  const row = page.getByRole("row").filter({ hasText: hana.email });
  await row.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });

  await dialog.getByRole("button", { name: "Create" }).click();
  await guest.page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  await guest.page.unroute(looks);
  await guest.page.getByRole("link", { name: "Go to the first page" }).click();
  await guest.page.getByRole("button", { name: "Organisation: Hana" }).click();
  await guest.page.getByRole("option", { name: "New organisation" }).waitFor();
  expect(await guest.page.getByRole("option", { name: "Vanishing" }).count()).toBe(0);
  expect(guest.complaints.filter(isUnexpected)).toEqual([]);
});

test(
  "who is a member of more organisations than are listed finds the others by name, and sees which one is open",
  { tags: "full" },
  async () => {
    const ines = createPerson("Ines");
    await addPerson(world, ines);
    const database = new Client({
      host: join(world.dataDirectory, "postgres", "socket"),
      user: "platform",
      database: "platform",
    });
    await database.connect();
    onTestFinished(() => database.end());
    await database.query(
      `with made as (
        insert into organisation (id, name, slug)
        select gen_random_uuid(), 'Many ' || lpad(i::text, 3, '0'), 'many-' || i from generate_series(1, 120) i returning id
      ) insert into member (organisation_id, user_id, role)
        select made.id, u.id, 'maintainer' from made, platform_user u where u.email = $1`,
      [ines.email],
    );
    const { page, open, complaints } = await world.visit({ as: ines });
    await open("/o/many-120");
    await page.getByRole("button", { name: "Organisation: Many 120" }).click();
    await page.getByText("The first 100 are listed").waitFor();
    await page.getByLabel("Find an organisation").fill("MANY 11");
    await page.getByRole("option", { name: "Many 119" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/o/many-119");
    await page.getByRole("button", { name: "Organisation: Many 119" }).waitFor();
    expect(complaints).toEqual([]);
  },
);

test(
  "an organisation is made in the list of organisations, and a name that is taken is refused at its field",
  { tags: "full" },
  async () => {
    const { slug } = await world.createOrganisation("Taken");
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}`);
    await page.getByRole("button", { name: "Organisation: Taken" }).click();
    await page.getByRole("option", { name: "New organisation" }).click();
    await page.getByRole("heading", { level: 1, name: "New organisation" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill(HOSTILE);
    await page.getByLabel("Short name").fill(slug);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText(/There is an organisation with the slug/u).waitFor();
    await page.getByLabel("Short name").fill(`${slug}-again`);
    await page.getByRole("button", { name: "Create" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/o/${slug}-again`);
    await page.getByRole("button", { name: `Organisation: ${HOSTILE}` }).waitFor();

    const { body } = await request<{ items: readonly { id: string; slug: string }[] }>(
      "GET",
      `${world.login.apiUrl}/api/organizations?limit=100`,
      { token: world.login.personalAccessToken },
    );
    const made = body.items.find((one) => one.slug === `${slug}-again`);
    const guest = await world.visit({ as: null });
    await guest.open(await invite(world, made?.id ?? "", { role: "viewer" }));
    expect(await guest.page.getByRole("heading", { level: 1 }).textContent()).toContain(HOSTILE);
    await open(`/o/${slug}-again/members`);
    expect(await page.title()).not.toBe("run");
    expect(await guest.page.title()).not.toBe("run");
    expect([...complaints, ...guest.complaints].filter(isUnexpected)).toEqual([]);
  },
);
