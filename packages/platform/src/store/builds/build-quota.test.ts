import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createTestUser, createTestVersion } from "../../testing/fixtures.ts";
import type { TestUser } from "../../testing/fixtures.ts";
import { createTestInstance } from "../../testing/instance.ts";
import type { TestInstance } from "../../testing/instance.ts";

describe("an organisation", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let names = 0;

  beforeAll(async () => {
    home = await createTestDatabase();
    instance = await createTestInstance({
      database: home.database,
      quota: { builds: 3, storedBytes: 1_000 },
    });
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
  });

  const createDeployer = async () => {
    const user = await createTestUser(instance);
    const { organisationId } = user;
    const name = `service-${(names += 1)}`;
    const { key } = await instance.stores.services.create({ organisationId, name, description: "" });
    return { user, key };
  };
  const request = (
    { user, key }: { user: TestUser; key: string },
    patch: number,
    archiveHash = `${(names += 1)}`,
    major = 1,
  ) => {
    const { organisationId, userId } = user;
    const more = { archiveHash, contentHash: archiveHash, isForced: false, requestedBy: userId };
    return { organisationId, serviceKey: key, version: `${major}.0.${patch}`, ...more };
  };
  const claimAll = async () => {
    const owners: string[] = [];
    for (;;) {
      const claim = await instance.stores.builds.claim("builder", 60);
      if (!claim) return owners;
      owners.push(claim.organisationId);
    }
  };

  test("has so many builds that wait or run, also when many are asked for at once, and no other pays for it", async () => {
    const { builds } = instance.stores;
    const [first, second] = await Promise.all([createDeployer(), createDeployer()]);
    const asked = await Promise.allSettled(
      Array.from({ length: 10 }, (_, patch) => builds.create(request(first, patch))),
    );
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const reasons = asked.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
    expect(new Set(reasons)).toEqual(new Set(["QUOTA_EXCEEDED"]));
    expect(await builds.create(request(second, 0))).not.toBeNull();
    const refused = await instance.api.inject({
      method: "POST",
      url: `/api/services/${first.key}/versions`,
      headers: { authorization: `Bearer ${first.user.token}`, "content-type": "application/zip" },
      payload: Buffer.from("never looked at"),
    });
    expect([refused.statusCode, refused.json().code, refused.headers["retry-after"]]).toEqual([
      429,
      "QUOTA_EXCEEDED",
      "30",
    ]);
    const claim = await builds.claim("builder", 60);
    expect(
      claim && (await builds.finish(claim, { status: "FAILED", code: "BUILD_FAILED", detail: "" })),
    ).toBe(true);
    expect(
      await builds.create(request(claim?.organisationId === first.user.organisationId ? first : second, 11)),
    ).not.toBeNull();
    await claimAll();
  });

  test("stores so many bytes: the same archive counts once, a retired version not at all", async () => {
    const { builds, versions } = instance.stores;
    const deployer = await createDeployer();
    const { organisationId } = deployer.user;
    const make = async (patch: number, archiveHash: string, bytes: number) => {
      await builds.create(request(deployer, patch, archiveHash), { storedBytes: bytes });
      const claim = await builds.claim("builder", 60);
      if (!claim) throw new Error("There is no build to claim.");
      const given = { serviceKey: deployer.key, version: claim.version, archiveHash };
      const version = createTestVersion({ ...given, contentHash: archiveHash });
      await builds.finish(claim, { status: "SUCCEEDED", version });
    };
    await make(0, "large", 600);
    await make(1, "large", 600);
    const refused = await builds
      .create(request(deployer, 2), { storedBytes: 401 })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: expect.stringContaining("retire versions"),
    });
    expect(await builds.create(request(deployer, 2), { storedBytes: 400 })).not.toBeNull();
    await claimAll();
    for (const version of ["1.0.0", "1.0.1"]) await versions.retire(organisationId, deployer.key, version);
    expect(await builds.create(request(deployer, 3), { storedBytes: 600 })).not.toBeNull();
    await claimAll();
  });

  test("that asked for many builds does not keep the one build of another waiting", async () => {
    const { builds } = instance.stores;
    const [many, few] = await Promise.all([createDeployer(), createDeployer()]);
    for (const major of [1, 2, 3]) await builds.create(request(many, 0, `major ${major}`, major));
    await builds.create(request(few, 0));
    const [a, b] = [many.user.organisationId, few.user.organisationId];
    expect(await claimAll()).toEqual([a, b, a, a]);
  });
});
