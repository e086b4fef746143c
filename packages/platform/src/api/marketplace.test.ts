import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  insertTestVersion,
} from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";

let home: TestDatabase;
let instance: TestInstance;
let provider: TestUser;
let consumer: TestUser;
let call: CallApi;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  call = createApiCaller(instance);
  provider = await createTestUser(instance);
  consumer = await createTestUser(instance);
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

async function offer(name: string, listing: object = { title: name }): Promise<TestService> {
  const service = await createTestService(instance, provider, name);
  const path = `/services/${service.serviceKey}`;
  expect(await call(provider, `PUT ${path}/listing`, listing)).toMatchObject({ status: 200 });
  const published = await call(provider, `POST ${path}/publish`, { scope: "marketplace" });
  expect(published).toMatchObject({ status: 200 });
  return service;
}

async function describeVersion({ serviceKey }: TestService, version: string, description: string) {
  await insertTestVersion(home.database, {
    serviceKey,
    version,
    archiveHash: "secret archive",
    inputSchema: { type: "object", title: `Input of ${version}` },
    description,
  });
}

const readSlug = async (user: TestUser) =>
  (await call(user, `GET /organizations/${user.organisationId}`)).body["slug"];

/** The names of the services that a search finds when it is read two at a time. */
async function readPages(query: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for (let next = ""; ;) {
    const { body } = await call(consumer, `GET /marketplace?${query}&limit=2${next}`);
    const page = body as { readonly items: readonly { readonly serviceName: unknown }[] };
    seen.push(...page.items.map(({ serviceName }) => serviceName));
    if (typeof body["nextCursor"] !== "string") return seen;
    next = `&cursor=${body["nextCursor"]}`;
  }
}

/** The names of the services that a search finds, in order. */
async function search(user: TestUser, query: string): Promise<readonly unknown[]> {
  const { status, body } = await call(user, `GET /marketplace?${query}`);
  expect(status).toBe(200);
  const { items } = body as { readonly items: readonly { readonly serviceName: unknown }[] };
  return items.map(({ serviceName }) => serviceName);
}

describe("a listing", () => {
  test("of a service that has none is its name; written, it is what was written", async () => {
    const service = await createTestService(instance, provider, "fresh");
    const path = `/services/${service.serviceKey}/listing`;
    expect((await call(provider, `GET ${path}`)).body).toEqual({
      title: "fresh",
      summary: "",
      tags: [],
      icon: null,
      contact: null,
      exampleInput: null,
      description: null,
      sharesFigures: false,
      revision: 0,
      changedAt: null,
    });
    const listing = {
      title: "Fresh numbers",
      summary: "One line",
      tags: ["numbers", "random-2"],
      icon: PNG,
      contact: "ada@example.org",
      exampleInput: { data: { n: 3, deep: [1, { x: null }] } },
      description: "# Fresh\n\nNumbers of *today*.",
      sharesFigures: true,
    };
    await call(provider, `PUT ${path}`, listing);
    expect((await call(provider, `GET ${path}`)).body).toEqual({
      ...listing,
      revision: 1,
      changedAt: expect.any(String),
    });
    await call(provider, `PUT ${path}`, { title: "Only this" });
    expect((await call(provider, `GET ${path}`)).body).toMatchObject({
      summary: "",
      tags: [],
      icon: null,
      description: null,
      sharesFigures: false,
    });
  });

  test("keeps the digits of its example, and takes none that cannot be stored", async () => {
    const service = await createTestService(instance, provider, "exact");
    const path = `/services/${service.serviceKey}/listing`;
    const put = async (data: string) =>
      await instance.api.inject({
        method: "PUT",
        url: `/api${path}`,
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${provider.token}`,
          "x-organizationid": provider.organisationId,
        },
        payload: `{"title": "Exact", "exampleInput": {"data": ${data}}}`,
      });
    const exact = '{"big":12345678901234567890,"fine":0.10000000000000000001,"list":[3]}';
    expect((await put(exact)).body).toContain(`"exampleInput":{"data":${exact}}`);
    for (const data of ["12345678901234567890", '{"far":1e99999}', '{"fine":1e-20000}', '{"nul":"\\u0000"}'])
      expect([data, (await put(data)).json<{ code: string }>().code]).toEqual([data, "INVALID_INPUT"]);
  });

  test.each([
    ["no title", { summary: "x" }],
    ["a blank title", { title: "  " }],
    ["an oversize title", { title: "x".repeat(121) }],
    ["a title of several lines", { title: "a\nb" }],
    ["a title that turns the direction of text", { title: "free \u202Eyenom" }],
    ["an oversize summary", { title: "x", summary: "x".repeat(161) }],
    ["a tag with a letter that only looks like one of ours", { title: "x", tags: ["рython"] }],
    ["a tag twice", { title: "x", tags: ["a", "a"] }],
    ["eleven tags", { title: "x", tags: Array.from({ length: 11 }, (_, index) => `t${index}`) }],
    ["an icon elsewhere", { title: "x", icon: "https://example.org/a.png" }],
    ["an icon that can run scripts", { title: "x", icon: "data:image/svg+xml;base64,PHN2Zz4=" }],
    ["an oversize icon", { title: "x", icon: `data:image/png;base64,${"A".repeat(17_000)}` }],
    ["a contact that runs scripts", { title: "x", contact: "javascript:alert(1)" }],
    ["a contact that leaves its attribute", { title: "x", contact: 'https://e.org/"onclick="a' }],
    ["an empty description", { title: "x", description: "" }],
    ["an oversize description", { title: "x", description: "x".repeat(65_537) }],
    ["an example that no start takes", { title: "x", exampleInput: { other: {} } }],
    ["what only the platform sets", { title: "x", changedAt: "2026-11-22 10:00:00" }],
  ])("with %s is refused", async (_what, body) => {
    const service = (await instance.stores.services.findByName(provider.organisationId, "fresh"))?.key ?? "";
    const answer = await call(provider, `PUT /services/${service}/listing`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });

  test("of thousands of blanks is refused at once", async () => {
    const service = (await instance.stores.services.findByName(provider.organisationId, "fresh"))?.key ?? "";
    const began = performance.now();
    const title = `${" ".repeat(60_000)}\u202E`;
    expect((await call(provider, `PUT /services/${service}/listing`, { title })).status).toBe(400);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe("the marketplace", () => {
  test("finds words and their beginnings in name, title, tags, summary and description, the title first", async () => {
    const described = await offer("alpha", { title: "Alpha", summary: "Counts sheep" });
    await describeVersion(described, "1.1.0", "# About\n\nIt also solves *quaternions*.");
    await offer("beta", { title: "Quaternions for all", tags: ["geometry"] });
    await offer("gamma-rays", { title: "Gamma" });
    expect(await search(consumer, "q=QUATERN")).toEqual(["beta", "alpha"]);
    expect(await search(consumer, "q=sheep+counts")).toEqual(["alpha"]);
    expect(await search(consumer, "q=geometry+all")).toEqual(["beta"]);
    expect(await search(consumer, "q=rays")).toEqual(["gamma-rays"]);
    expect(await search(consumer, "q=sheep+quaternions+geometry")).toEqual([]);
    expect(await search(consumer, "tag=geometry")).toEqual(["beta"]);
    expect(await search(consumer, "tag=geo")).toEqual([]);
  });

  test("shows the description of the listing in place of the version's, and finds its words instead", async () => {
    const described = await offer("delta", { title: "Delta", description: "It *telescopes* sums." });
    await describeVersion(described, "1.1.0", "It unfolds products.");
    const read = async () => (await call(consumer, `GET /marketplace/${described.serviceKey}`)).body;
    expect(await read()).toMatchObject({ description: "It *telescopes* sums." });
    expect(await search(consumer, "q=telescopes")).toEqual(["delta"]);
    expect(await search(consumer, "q=unfolds")).toEqual([]);
    await call(provider, `PUT /services/${described.serviceKey}/listing`, { title: "Delta" });
    expect(await read()).toMatchObject({ description: "It unfolds products." });
    expect(await search(consumer, "q=unfolds")).toEqual(["delta"]);
  });

  test("finds only what has a plan without a price, where that is asked", async () => {
    await offer("priced-free", { title: "Priced" });
    const { serviceKey: paid } = await offer("priced-paid", { title: "Priced" });
    const terms = { name: "Pro", currency: "EUR", monthly: "5" };
    expect((await call(provider, `PUT /services/${paid}/plans/pro`, terms)).status).toBe(201);
    expect((await call(provider, `DELETE /services/${paid}/plans/free`)).status).toBe(204);
    expect(await search(consumer, "q=priced")).toEqual(["priced-paid", "priced-free"]);
    expect(await search(consumer, "q=priced&price=free")).toEqual(["priced-free"]);
    expect((await call(consumer, "GET /marketplace?price=paid")).status).toBe(400);
  });

  test.each([
    "q=%26%20%7C%20!%20%3A*",
    "q=sheep'%20%7C%20'gamma",
    "q=%F0%9F%92%A9",
    "q=%E2%91%A0",
    "q=zzz%5C",
    "q=%27%3A*%20%26",
  ])("answers %s without an error, and finds no more by it", async (query) => {
    expect(await search(consumer, query)).toEqual([]);
  });

  test("shows all of a list in pages, each once, the newest or the best match first", async () => {
    for (const index of [1, 2, 3, 4, 5]) await offer(`page-${index}`, { title: `Paged ${index}` });
    for (const query of ["q=paged", "q=", "sort=newest", "q=paged&sort=name", "sort=name", "sort=price"]) {
      const seen = await readPages(query);
      expect(seen).toEqual(await search(consumer, `${query}&limit=100`));
      expect(seen.length).toBeGreaterThanOrEqual(5);
    }
    for (const cursor of ["x", Buffer.from('["NaN","x"]').toString("base64url")])
      expect((await call(consumer, `GET /marketplace?cursor=${cursor}`)).status).toBe(400);
  });

  test("sorts by title, by price and by age, whatever was searched for", async () => {
    const sell = async (name: string, title: string, ...plans: readonly object[]) => {
      const { serviceKey } = await offer(name, { title, summary: "Sorted" });
      for (const [index, terms] of plans.entries()) {
        const made = await call(provider, `PUT /services/${serviceKey}/plans/p${index}x`, { name, ...terms });
        expect(made.status).toBe(201);
      }
      if (plans.length > 0) await call(provider, `DELETE /services/${serviceKey}/plans/free`);
    };
    const eur = { currency: "EUR" };
    await sell("sort-usd", "beta", { currency: "USD", monthly: "0.5" });
    await sell("sort-ten", "Gamma", { ...eur, monthly: "10" }, { ...eur, monthly: "10", perExecution: "1" });
    await sell("sort-use", "alpha", { ...eur, perCpuSecond: "0.01" }, { ...eur, monthly: "2" });
    await sell("sort-nine", "Delta", { ...eur, monthly: "9.50" }, { ...eur, monthly: "100" });
    await sell("sort-free", "Beta");
    await sell("sort-more", "beta");
    const byTitle = ["sort-use", "sort-usd", "sort-free", "sort-more", "sort-nine", "sort-ten"];
    expect(await readPages("q=sorted&sort=name")).toEqual(byTitle);
    const byPrice = ["sort-free", "sort-more", "sort-use", "sort-nine", "sort-ten", "sort-usd"];
    expect(await readPages("q=sorted&sort=price")).toEqual(byPrice);
    const byAge = ["sort-more", "sort-free", "sort-nine", "sort-use", "sort-ten", "sort-usd"];
    expect(await readPages("q=sorted&sort=newest")).toEqual(byAge);
    expect((await call(consumer, "GET /marketplace?sort=colour")).status).toBe(400);
    const { body } = await call(consumer, "GET /marketplace?q=sorted&sort=price&limit=4");
    const { items } = body as { readonly items: readonly Record<string, unknown>[] };
    expect(items.map(({ priceFrom, hasOtherPrices }) => [priceFrom, hasOtherPrices])).toEqual([
      [{ currency: null, monthly: "0", perExecution: "0", perCpuSecond: "0" }, false],
      [{ currency: null, monthly: "0", perExecution: "0", perCpuSecond: "0" }, false],
      [{ currency: "EUR", monthly: "0", perExecution: "0", perCpuSecond: "0.01" }, true],
      [{ currency: "EUR", monthly: "9.5", perExecution: "0", perCpuSecond: "0" }, true],
    ]);
  });

  test("shows how a service ran for others only where its provider says so, of whole days, from 20 executions on", async () => {
    const { serviceKey } = await offer("figured", { title: "Figured", sharesFigures: true });
    const note = async (daysAgo: number, succeeded: number, failed: number) =>
      await home.database.query({
        text: `insert into service_day values ($1, ((now() - interval '10 minutes') at time zone 'UTC')::date - $2::int, $3, $4, jsonb_build_object('40', $3::int))`,
        values: [serviceKey, daysAgo, succeeded, failed],
      });
    const read = async () => {
      const [entry, list] = [
        await call(consumer, `GET /marketplace/${serviceKey}`),
        await call(consumer, "GET /marketplace?q=figured"),
      ];
      expect(list.body["items"]).toMatchObject([{ figures: entry.body["figures"] }]);
      return entry.body["figures"];
    };
    expect(await read()).toBeNull();
    await note(0, 500, 0);
    await note(31, 500, 0);
    await note(30, 10, 9);
    expect(await read()).toBeNull();
    await note(1, 0, 1);
    expect(await read()).toEqual({ successPercent: 50, medianRunMs: null });
    await note(2, 19, 0);
    expect(await read()).toEqual({ successPercent: 74, medianRunMs: 1_117 });
    await call(provider, `PUT /services/${serviceKey}/listing`, { title: "Figured" });
    expect(await read()).toBeNull();
  });

  test("refuses the cursor of one order in another", async () => {
    for (const name of ["cursor-1", "cursor-2"]) await offer(name);
    const { body } = await call(consumer, "GET /marketplace?sort=name&limit=1");
    const cursor = `cursor=${String(body["nextCursor"])}`;
    expect((await call(consumer, `GET /marketplace?sort=name&${cursor}`)).status).toBe(200);
    for (const sort of ["newest", "price"])
      expect((await call(consumer, `GET /marketplace?sort=${sort}&${cursor}`)).status).toBe(400);
    // A rank would do as a title.
    const match = await call(consumer, "GET /marketplace?q=cursor&limit=1");
    const ranked = `cursor=${String(match.body["nextCursor"])}`;
    expect((await call(consumer, `GET /marketplace?q=cursor&${ranked}`)).status).toBe(200);
    expect((await call(consumer, `GET /marketplace?q=cursor&sort=name&${ranked}`)).status).toBe(400);
  });

  test("shows to others only what is published there and live; an organisation also sees its internal services", async () => {
    const internal = await createTestService(instance, provider, "inside");
    await call(provider, `PUT /services/${internal.serviceKey}/listing`, { title: "Insider" });
    const withdrawn = await offer("withdrawn", { title: "Insider too" });
    await call(provider, `POST /services/${withdrawn.serviceKey}/unpublish`);
    const retired = await offer("retired", { title: "Insider three" });
    await instance.stores.versions.retire(provider.organisationId, retired.serviceKey, "1.0.0");
    expect(await search(consumer, "q=insider")).toEqual([]);
    expect(await search(provider, "q=insider")).toEqual(["inside"]);
    for (const { serviceKey } of [internal, withdrawn, retired])
      expect(await call(consumer, `GET /marketplace/${serviceKey}`)).toMatchObject({
        status: 404,
        body: { code: "SERVICE_NOT_FOUND" },
      });
    expect((await call(provider, `GET /marketplace/${internal.serviceKey}`)).status).toBe(200);
  });

  test("tells providers of one name apart by their slugs, which nobody else can have", async () => {
    const other = await createTestUser(instance);
    const service = await createTestService(instance, other, "lookalike");
    await call(other, `POST /services/${service.serviceKey}/publish`, { scope: "marketplace" });
    const shown = async ({ serviceKey }: TestService) =>
      (await call(consumer, `GET /marketplace/${serviceKey}`)).body;
    const [first, second] = [await shown(await offer("genuine", { title: "Genuine" })), await shown(service)];
    expect(first["providerName"]).toBe(second["providerName"]);
    expect([first["providerSlug"], second["providerSlug"]]).toEqual([
      await readSlug(provider),
      await readSlug(other),
    ]);
    expect(first["providerSlug"]).not.toBe(second["providerSlug"]);
  });

  test("shows of a service what one needs before subscribing, and nothing of its code or other subscribers", async () => {
    const service = await offer("shown", { title: "Shown", contact: "https://example.org/help" });
    await describeVersion(service, "2.0.0", "# Hello");
    await createTestClient(instance, await createTestUser(instance), service);
    const client = await createTestClient(instance, consumer, service);
    const { body } = await call(consumer, `GET /marketplace/${service.serviceKey}`);
    expect(body).toEqual({
      serviceKey: service.serviceKey,
      serviceName: "shown",
      providerName: "Somebody",
      providerSlug: await readSlug(provider),
      publication: "marketplace",
      title: "Shown",
      summary: "",
      tags: [],
      icon: null,
      contact: "https://example.org/help",
      exampleInput: null,
      latestVersion: "2.0.0",
      hasFreePlan: true,
      priceFrom: { currency: null, monthly: "0", perExecution: "0", perCpuSecond: "0" },
      hasOtherPrices: false,
      figures: null,
      description: "# Hello",
      versions: [
        { version: "2.0.0", createdAt: expect.any(String) },
        { version: "1.0.0", createdAt: expect.any(String) },
      ],
      plans: [expect.objectContaining({ id: "free", kind: "FREE" })],
      resultDays: 30,
      logDays: 7,
      inputSchema: { type: "object", title: "Input of 2.0.0" },
      outputSchema: null,
      subscriptions: [{ id: client.subscriptionId, applicationId: client.applicationId }],
    });
  });

  test("has nothing of a deleted organisation", async () => {
    const gone = await createTestUser(instance);
    const service = await createTestService(instance, gone, "orphan");
    await call(gone, `POST /services/${service.serviceKey}/publish`, { scope: "marketplace" });
    expect(await search(consumer, "q=orphan")).toEqual(["orphan"]);
    await home.database.query({
      text: "update organisation set deleted_at = now() where id = $1",
      values: [gone.organisationId],
    });
    expect(await search(consumer, "q=orphan")).toEqual([]);
    const application = await call(consumer, "POST /applications", { name: "shop" });
    const wanted = { applicationId: application.body["id"], serviceKey: service.serviceKey };
    expect((await call(consumer, "POST /subscriptions", wanted)).status).toBe(404);
  });
});
