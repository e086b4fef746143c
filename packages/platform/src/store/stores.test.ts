import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createStores } from "./stores.ts";
import type { Stores } from "./stores.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestOrganisation, insertTestVersion } from "../testing/fixtures.ts";
import type { AccessChange } from "./access.ts";
import type { NewBuild } from "./builds/builds.ts";
import type { NewVersion } from "./versions/versions.ts";

let home: TestDatabase;
let stores: Stores;
const PAGE = { limit: 10 };
const OTHER = createUuidV7();

beforeAll(async () => {
  home = await createTestDatabase();
  stores = createStores(home.database);
});

afterAll(async () => {
  await home.close();
});

function createVersion(serviceKey: string, version: string): NewVersion {
  return {
    id: createUuidV7(),
    serviceKey,
    version,
    archiveHash: "archive",
    contentHash: `content of ${version}`,
    resources: { cpu: 0.5, memory: 1.5 },
    timeoutSeconds: 60,
    startMode: "auto",
    network: null,
    output: { logMegabytes: 2 },
    inputSchema: { type: "object" },
    outputSchema: null,
    description: "It counts.",
  };
}

/** An organisation of its own with a published service 1.0.0 and an application that has a key. */
async function createWorld() {
  const organisationId = await createTestOrganisation(home.database);
  const created = await stores.services.create({ organisationId, name: "counter", description: "" });
  const service = await stores.services.publish(organisationId, created.key, "internal");
  await insertTestVersion(home.database, createVersion(created.key, "1.0.0"));
  const application = await stores.applications.create({
    organisationId,
    name: "shop",
    createdBy: "somebody",
  });
  const keyId = createUuidV7();
  await stores.accessKeys.create(organisationId, application.id, { id: keyId, secretHash: "hash" });
  const question = { applicationId: application.id, keyId, serviceKey: created.key, version: "1.0.0" };
  return { organisationId, service, serviceKey: created.key, applicationId: application.id, keyId, question };
}

function createBuild(organisationId: string, serviceKey: string, version: string): NewBuild {
  return {
    organisationId,
    serviceKey,
    version,
    archiveHash: "archive",
    contentHash: "content",
    isForced: false,
    requestedBy: "somebody",
  };
}

test("a service has its name alone in its organisation", async () => {
  const { organisationId, service } = await createWorld();
  expect(service).toMatchObject({ name: "counter", publication: "internal" });
  await expect(
    stores.services.create({ organisationId, name: "counter", description: "" }),
  ).rejects.toMatchObject({
    code: "CONFLICT",
  });
});

test("nobody sees or changes what belongs to another organisation", async () => {
  const { organisationId, serviceKey, applicationId, keyId } = await createWorld();
  const subscription = await stores.subscriptions.create(organisationId, applicationId, serviceKey);
  const build = await stores.builds.create(createBuild(organisationId, serviceKey, "1.0.1"));
  const { services, versions, builds, applications, accessKeys, subscriptions } = stores;
  expect(await services.findByKey(OTHER, serviceKey)).toBeNull();
  expect(await services.findByName(OTHER, "counter")).toBeNull();
  expect(await services.publish(OTHER, serviceKey, "marketplace")).toBeNull();
  expect((await services.list(OTHER, PAGE)).items).toEqual([]);
  expect((await versions.list(OTHER, serviceKey, PAGE)).items).toEqual([]);
  expect(await versions.find(OTHER, serviceKey, "1.0.0")).toBeNull();
  expect(await versions.findLatest(OTHER, serviceKey)).toBeNull();
  expect(await versions.findHighest(OTHER, serviceKey)).toBeNull();
  expect(await versions.listCalled(OTHER, serviceKey, { major: 1, minor: 1, patch: 0 })).toEqual([]);
  expect(await versions.retire(OTHER, serviceKey, "1.0.0")).toBeNull();
  expect(await builds.create(createBuild(OTHER, serviceKey, "3.0.0"))).toBeNull();
  expect(await builds.findLatest(OTHER, serviceKey, "1.0.1")).toBeNull();
  expect((await builds.readLog(OTHER, build?.id ?? "", 0)).lines).toEqual([]);
  expect(await applications.find(OTHER, applicationId)).toBeNull();
  expect(await applications.delete(OTHER, applicationId)).toBe(false);
  expect(await accessKeys.create(OTHER, applicationId, { id: "k", secretHash: "h" })).toBeNull();
  expect(await accessKeys.list(OTHER, applicationId, PAGE)).toBeNull();
  expect(await accessKeys.revoke(OTHER, applicationId, keyId)).toBe(false);
  expect(await accessKeys.countActive(OTHER, applicationId)).toBe(0);
  expect(await subscriptions.find(OTHER, subscription.id)).toBeNull();
  expect(await subscriptions.cancel(OTHER, subscription.id)).toBe(false);
  expect(await subscriptions.change(OTHER, subscription.id, { isPaused: true })).toBeNull();
  expect((await subscriptions.listOfService(OTHER, serviceKey, PAGE)).items).toEqual([]);
  expect((await subscriptions.list(OTHER, PAGE)).items).toEqual([]);
  await expect(subscriptions.create(OTHER, applicationId, serviceKey)).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  // And the owner still has all of it.
  expect(await versions.find(organisationId, serviceKey, "1.0.0")).toMatchObject({ retiredAt: null });
  expect(
    await versions.listCalled(organisationId, serviceKey, { major: 1, minor: 1, patch: 0 }),
  ).toHaveLength(1);
  expect(await accessKeys.countActive(organisationId, applicationId)).toBe(1);
  expect(await subscriptions.find(organisationId, subscription.id)).toEqual(subscription);
});

test("an application cannot subscribe to a service of another organisation", async () => {
  const mine = await createWorld();
  const theirs = await createWorld();
  await expect(
    stores.subscriptions.create(mine.organisationId, mine.applicationId, theirs.serviceKey),
  ).rejects.toMatchObject({ code: "SERVICE_NOT_FOUND" });
});

test("ids that are no uuids name nothing, and a made-up cursor is refused", async () => {
  const { organisationId, applicationId } = await createWorld();
  expect(await stores.services.findByKey(organisationId, "'; drop table service")).toBeNull();
  expect(await stores.versions.findById("x")).toBeNull();
  expect(await stores.versions.find(organisationId, "x", "1.0.0")).toBeNull();
  expect(await stores.applications.find(organisationId, "x")).toBeNull();
  expect(await stores.builds.findLatest(organisationId, "x", "1.0.0")).toBeNull();
  await expect(stores.services.list(organisationId, { limit: 1, cursor: "x" })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
  // A year that no timestamp has.
  const cursor = Buffer.from(JSON.stringify(["9999999999999999", "x"])).toString("base64url");
  await expect(
    stores.accessKeys.list(organisationId, applicationId, { limit: 1, cursor }),
  ).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("lists give every item once, newest first, page by page", async () => {
  const { organisationId, applicationId } = await createWorld();
  for (const name of ["b", "c", "d", "e"])
    await stores.services.create({ organisationId, name, description: "" });
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await stores.services.list(organisationId, { limit: 2, cursor });
    names.push(...page.items.map((item) => item.name));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(names).toEqual(["e", "d", "c", "b", "counter"]);
  const ids = ["k1", "k2", "k3"].map((id) => `${id}-${applicationId}`);
  for (const id of ids)
    await stores.accessKeys.create(organisationId, applicationId, { id, secretHash: "h" });
  const first = await stores.accessKeys.list(organisationId, applicationId, { limit: 3 });
  const second = await stores.accessKeys.list(organisationId, applicationId, {
    limit: 3,
    cursor: first?.nextCursor ?? "",
  });
  const shown = [...(first?.items ?? []), ...(second?.items ?? [])].map(({ id }) => id);
  expect(new Set(shown).size).toBe(4);
  expect(second?.nextCursor).toBeNull();
});

test("versions are found by number, and the latest is the highest that is not retired", async () => {
  const { organisationId, serviceKey } = await createWorld();
  for (const version of ["1.9.0", "1.10.0"])
    await insertTestVersion(home.database, createVersion(serviceKey, version));
  expect((await stores.versions.findLatest(organisationId, serviceKey))?.version).toBe("1.10.0");
  const found = await stores.versions.find(organisationId, serviceKey, "1.9.0");
  expect(found).toMatchObject({ ...createVersion(serviceKey, "1.9.0"), id: found?.id, retiredAt: null });
  expect(await stores.versions.findById(found?.id ?? "")).toEqual({ ...found, organisationId });
  const retired = await stores.versions.retire(organisationId, serviceKey, "1.10.0");
  expect(retired?.retiredAt).toEqual(expect.any(Number));
  expect(await stores.versions.retire(organisationId, serviceKey, "1.10.0")).toEqual(retired);
  expect((await stores.versions.findLatest(organisationId, serviceKey))?.version).toBe("1.9.0");
  expect(await stores.versions.findHighest(organisationId, serviceKey)).toBe("1.10.0");
  expect((await stores.services.findByKey(organisationId, serviceKey))?.latestVersion).toBe("1.9.0");
});

test("a build runs once at a time, keeps its log, and makes its version live when it succeeds", async () => {
  const { organisationId, serviceKey } = await createWorld();
  await drainBuilds();
  const build = await stores.builds.create(createBuild(organisationId, serviceKey, "1.0.1"));
  await expect(stores.builds.create(createBuild(organisationId, serviceKey, "1.0.1"))).rejects.toMatchObject({
    code: "CONFLICT",
  });
  expect(await stores.versions.findHighest(organisationId, serviceKey)).toBe("1.0.1");
  const claims = await Promise.all(["a", "b", "c"].map((worker) => stores.builds.claim(worker, 30)));
  const claim = claims.find((claim) => claim !== null);
  if (claim === undefined || claim === null || build === null) throw new Error("The build was not claimed.");
  expect(claims.filter((other) => other !== null)).toHaveLength(1);
  expect(claim).toMatchObject({ id: build.id, organisationId, status: "RUNNING", attempt: 1 });
  await stores.builds.appendLog(claim, ["one", "two"]);
  await stores.builds.appendLog(claim, ["three \0"]);
  expect(await stores.builds.readLog(organisationId, build.id, 1)).toEqual({
    lines: ["two", "three \u{FFFD}"],
    nextOffset: 3,
  });
  const renewed = { lost: [], cancelled: [], busy: [] };
  expect(await stores.builds.renew([claim], 30)).toEqual(renewed);
  expect(
    await stores.builds.finish(claim, { status: "SUCCEEDED", version: createVersion(serviceKey, "1.0.1") }),
  ).toBe(true);
  expect(await stores.versions.find(organisationId, serviceKey, "1.0.1")).not.toBeNull();
  expect(await stores.builds.findLatest(organisationId, serviceKey, "1.0.1")).toMatchObject({
    status: "SUCCEEDED",
    failure: null,
  });
  expect(await stores.builds.renew([claim], 30)).toEqual({ ...renewed, lost: [claim.id] });
});

async function drainBuilds(): Promise<void> {
  for (;;) {
    const claim = await stores.builds.claim("drain", 30);
    if (claim === null) return;
    await stores.builds.finish(claim, { status: "FAILED", code: "CANCELLED", detail: "drained" });
  }
}

test("a builder that lost its lease can write no more, and after three builders the build fails", async () => {
  const { organisationId, serviceKey } = await createWorld();
  await drainBuilds();
  await stores.builds.create(createBuild(organisationId, serviceKey, "2.0.0"));
  const first = await claimWhenFree("first");
  const second = await claimWhenFree("second");
  expect(second).toMatchObject({ id: first.id, attempt: 2 });
  await stores.builds.appendLog(first, ["too late"]);
  expect(
    await stores.builds.finish(first, { status: "SUCCEEDED", version: createVersion(serviceKey, "2.0.0") }),
  ).toBe(false);
  expect(await stores.versions.find(organisationId, serviceKey, "2.0.0")).toBeNull();
  expect((await stores.builds.readLog(organisationId, first.id, 0)).lines).toEqual([]);
  await claimWhenFree("third");
  await waitUntil(async () => (await stores.builds.sweep()) > 0);
  expect(await stores.builds.findLatest(organisationId, serviceKey, "2.0.0")).toMatchObject({
    status: "FAILED",
    failure: { code: "WORKER_LOST" },
  });
  expect(await stores.builds.claim("fourth", 30)).toBeNull();
});

test("a build that is being written keeps no other lease of its builder from being renewed", async () => {
  const { organisationId, serviceKey } = await createWorld();
  await drainBuilds();
  for (const version of ["4.0.0", "5.0.0"])
    await stores.builds.create(createBuild(organisationId, serviceKey, version));
  const [written, other] = [await stores.builds.claim("one", 30), await stores.builds.claim("one", 30)];
  if (written === null || other === null) throw new Error("The builds were not claimed.");
  const lost = { ...other, id: written.id, attempt: written.attempt + 1 };
  await home.database.transaction(async (run) => {
    await run({ text: "select id from build where id = $1 for update", values: [written.id] });
    expect(await stores.builds.renew([written, other], 30)).toEqual({
      lost: [],
      cancelled: [],
      busy: [written.id],
    });
    expect((await stores.builds.renew([lost], 30)).lost).toEqual([written.id]);
  });
  expect((await stores.builds.renew([written, other], 30)).busy).toEqual([]);
});

async function claimWhenFree(workerId: string) {
  let claim: Awaited<ReturnType<typeof stores.builds.claim>> = null;
  await waitUntil(async () => {
    claim = await stores.builds.claim(workerId, 0.01);
    return claim !== null;
  });
  if (claim === null) throw new Error("There was nothing to claim.");
  return claim as NonNullable<Awaited<ReturnType<typeof stores.builds.claim>>>;
}

test("a build whose version went live meanwhile fails and says so", async () => {
  const { organisationId, serviceKey } = await createWorld();
  await drainBuilds();
  await stores.builds.create(createBuild(organisationId, serviceKey, "1.1.0"));
  const claim = await stores.builds.claim("worker", 30);
  if (claim === null) throw new Error("There was nothing to claim.");
  await insertTestVersion(home.database, createVersion(serviceKey, "1.1.0"));
  await stores.builds.finish(claim, { status: "SUCCEEDED", version: createVersion(serviceKey, "1.1.0") });
  expect(await stores.builds.findLatest(organisationId, serviceKey, "1.1.0")).toMatchObject({
    failure: { code: "CONFLICT" },
  });
});

test("a subscribed application is granted the version that it asks for; each way of revoking ends that at once and is told", async () => {
  const changes: AccessChange[] = [];
  const stop = stores.access.subscribe((change) => changes.push(change));
  await waitUntil(() => changes.length === 1);
  const world = await createWorld();
  const { organisationId, applicationId, serviceKey, keyId, question } = world;
  expect(await stores.access.findGrant(question)).toEqual({ granted: false, reason: "NOT_SUBSCRIBED" });
  const subscription = await stores.subscriptions.create(organisationId, applicationId, serviceKey);
  await expect(stores.subscriptions.create(organisationId, applicationId, serviceKey)).rejects.toMatchObject({
    code: "CONFLICT",
  });
  expect(await stores.access.findGrant(question)).toMatchObject({
    granted: true,
    grant: {
      subscriptionId: subscription.id,
      organisationId: organisationId,
      serviceName: "counter",
      version: {
        version: "1.0.0",
        resources: { cpu: 0.5, memory: 1.5 },
        inputSchema: { type: "object" },
        isRetired: false,
      },
    },
  });
  expect(await stores.subscriptions.cancel(organisationId, subscription.id)).toBe(true);
  expect(await stores.access.findGrant(question)).toEqual({ granted: false, reason: "NOT_SUBSCRIBED" });
  await stores.subscriptions.create(organisationId, applicationId, serviceKey);
  expect(await stores.accessKeys.findActive(keyId)).toMatchObject({
    applicationId,
    organisationId,
    secretHash: "hash",
  });
  expect(await stores.accessKeys.revoke(organisationId, applicationId, keyId)).toBe(true);
  expect(await stores.accessKeys.findActive(keyId)).toBeNull();
  expect(await stores.access.findGrant(question)).toEqual({ granted: false, reason: "KEY_REVOKED" });
  expect(await stores.applications.delete(organisationId, applicationId)).toBe(true);
  expect(await stores.access.findGrant(question)).toEqual({ granted: false, reason: "APPLICATION_DELETED" });
  expect((await stores.subscriptions.list(organisationId, PAGE)).items).toEqual([]);
  expect(await stores.access.findGrant({ ...question, serviceKey: createUuidV7() })).toEqual({
    granted: false,
    reason: "SERVICE_NOT_FOUND",
  });
  const told = () =>
    changes.filter(
      (change) => change !== null && "applicationId" in change && change.applicationId === applicationId,
    );
  await waitUntil(() => told().length >= 5);
  await stores.versions.retire(organisationId, serviceKey, "1.0.0");
  await waitUntil(
    () =>
      changes.filter(
        (change) => change !== null && "serviceKey" in change && change.serviceKey === serviceKey,
      ).length >= 2,
  );
  stop();
});

test("a key of one application opens nothing for another", async () => {
  const first = await createWorld();
  const second = await createWorld();
  await stores.subscriptions.create(first.organisationId, first.applicationId, first.serviceKey);
  expect(await stores.access.findGrant({ ...first.question, keyId: second.keyId })).toEqual({
    granted: false,
    reason: "KEY_REVOKED",
  });
});

test("an unpublished service takes no subscriptions", async () => {
  const { organisationId, applicationId } = await createWorld();
  const service = await stores.services.create({ organisationId, name: "draft", description: "" });
  await expect(stores.subscriptions.create(organisationId, applicationId, service.key)).rejects.toMatchObject(
    { code: "CONFLICT" },
  );
});

test("a grant names the organisation of the application, not that of the service", async () => {
  const [consumer, provider] = [await createWorld(), await createWorld()];
  await stores.services.publish(provider.organisationId, provider.serviceKey, "marketplace");
  await stores.subscriptions.create(consumer.organisationId, consumer.applicationId, provider.serviceKey);
  const question = { ...consumer.question, serviceKey: provider.serviceKey };
  expect(await stores.access.findGrant(question)).toMatchObject({
    granted: true,
    grant: { organisationId: consumer.organisationId },
  });
});
