import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SECOND } from "@platform/engine/base/time";
import { createSigningKeys } from "./signing-keys.ts";
import { createTokenVerifier } from "./token-verifier.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance, TEST_GATEWAY_URL, TEST_SECRET } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createAccess } from "./grants.ts";
import type { Access } from "./grants.ts";

describe("a gateway that hears no notification", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let owner: TestUser;
  let service: TestService;
  let time = Date.now();
  let questions = 0;
  let access: Access;

  beforeAll(async () => {
    home = await createTestDatabase();
    instance = await createTestInstance({ database: home.database });
    owner = await createTestUser(instance);
    service = await createTestService(instance, owner);
    const { stores } = instance;
    const keys = createSigningKeys({ store: stores.signingKeys, secret: TEST_SECRET });
    access = createAccess({
      verifier: createTokenVerifier({ keys, issuer: TEST_GATEWAY_URL }),
      store: {
        findApplication: async () => ({ granted: false, reason: "KEY_REVOKED" }),
        findGrant: (question) => ((questions += 1), stores.access.findGrant(question)),
      },
      now: () => time,
    });
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
  });

  test("refuses a revoked key once what it remembers is five seconds old", async () => {
    const client = await createTestClient(instance, owner, service);
    const authorization = `Bearer ${await fetchAccessToken(instance, client)}`;
    await access.authorize(authorization, service);
    await instance.stores.accessKeys.revoke(owner.organisationId, client.applicationId, client.keyId);
    time += 4 * SECOND;
    expect(await access.authorize(authorization, service)).toMatchObject({
      owner: {
        kind: "subscription",
        id: client.subscriptionId,
        organisationId: owner.organisationId,
      },
    });
    time += 1 * SECOND;
    await expect(access.authorize(authorization, service)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("lets a new subscription in one second after it refused", async () => {
    const other = await createTestService(instance, owner, "other");
    const client = await createTestClient(instance, owner, service);
    const authorization = `Bearer ${await fetchAccessToken(instance, client)}`;
    await expect(access.authorize(authorization, other)).rejects.toMatchObject({ code: "NOT_SUBSCRIBED" });
    await instance.stores.subscriptions.create(owner.organisationId, client.applicationId, other.serviceKey);
    time += 1 * SECOND;
    expect(await access.authorize(authorization, other)).toHaveProperty("owner");
  });

  test("asks the database once for many calls at the same moment, and answers polls without waiting", async () => {
    const client = await createTestClient(instance, owner, service);
    const authorization = `Bearer ${await fetchAccessToken(instance, client)}`;
    const before = questions;
    await Promise.all(Array.from({ length: 20 }, async () => access.authorize(authorization, service)));
    expect(questions - before).toBe(1);
    expect(access.authorize(authorization, service)).not.toBeInstanceOf(Promise);
  });
});
