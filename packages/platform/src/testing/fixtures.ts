import { randomUUID } from "node:crypto";
import type { Role } from "@platform/contract/permissions";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { readTerms } from "../api/plan-terms.ts";
import { createAccessKeySecret } from "../access/access-key-secrets.ts";
import type { Database } from "../postgres/database.ts";
import { createUserStore } from "../store/accounts/users.ts";
import { ACCESS_CHANNEL } from "../store/base/channels.ts";
import { toVersionValues, VERSION_COLUMNS } from "../store/versions/versions.ts";
import type { NewVersion } from "../store/versions/versions.ts";
import type { TestInstance } from "./instance.ts";

export interface TestUser {
  readonly userId: string;
  readonly organisationId: string;
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

const PASSWORD = "a password for tests";
/** Making one costs 0.2 s of CPU, and most tests never sign in. */
const PASSWORD_HASH =
  "$scrypt$ln=15,r=8,p=3$l+EED4DFj0R6dk+Sn94zPg$eoeviYSJn5GseYBzQkNztHjq/OUxzO0hhCMd8C2Wx1A";

/** A user with an organisation of their own and a personal access token. */
export async function createTestUser({ identity, database }: TestInstance): Promise<TestUser> {
  const [userId, organisationId] = [randomUUID(), randomUUID()];
  const email = `${userId}@example.org`;
  await createUserStore(database).create({
    id: userId,
    email,
    name: "Somebody",
    passwordHash: PASSWORD_HASH,
    isOperator: false,
    organisation: { id: organisationId, slug: `somebody-${userId.slice(0, 8)}` },
  });
  const { token } = await identity.createPersonalAccessToken(userId, {
    name: "test",
    scopes: ["admin"],
  });
  return { userId, organisationId, token, email, password: PASSWORD };
}

/** A user who runs the platform. */
export async function createTestOperator(instance: TestInstance): Promise<TestUser> {
  const user = await createTestUser(instance);
  await instance.database.query({
    text: "update platform_user set is_operator = true where id = $1",
    values: [user.userId],
  });
  return user;
}

export async function createTestMember(
  instance: TestInstance,
  organisationId: string,
  role: Role,
): Promise<TestUser> {
  const user = await createTestUser(instance);
  await instance.identity.addMember(organisationId, user.userId, role);
  return user;
}

export interface TestService {
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly version: string;
  readonly versionId: string;
}

/** A published service with a live version 1.0.0. */
export async function createTestService(
  { stores }: TestInstance,
  user: TestUser,
  name = "demo",
): Promise<TestService> {
  const { organisationId, userId } = user;
  const { key } = await stores.services.create({ organisationId, name, description: "" });
  await stores.services.publish(organisationId, key, "internal");
  const hash = "0".repeat(64);
  const build = { organisationId, serviceKey: key, version: "1.0.0", archiveHash: hash, contentHash: hash };
  await stores.builds.create({ ...build, isForced: false, requestedBy: userId });
  const claim = await stores.builds.claim("test", 60);
  if (!claim) throw new Error("There is no build to claim.");
  await stores.builds.appendLog(claim, ["secret line of the build"]);
  const version = createTestVersion({
    serviceKey: key,
    version: claim.version,
    archiveHash: hash,
    contentHash: hash,
    inputSchema: {
      type: "object",
      properties: { data: { type: "object", properties: { n: { type: "integer" } } } },
    },
  });
  await stores.builds.finish(claim, { status: "SUCCEEDED", version });
  return { serviceKey: key, serviceName: name, version: "1.0.0", versionId: version.id };
}

/** The plan `basic` of the service; it costs nothing. */
export async function createTestPlan(
  { stores }: TestInstance,
  { organisationId }: TestUser,
  { serviceKey }: TestService,
): Promise<void> {
  await stores.plans.put(organisationId, serviceKey, { ...readTerms({ name: "Basic" }), id: "basic" });
}

export interface TestClient {
  readonly applicationId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly subscriptionId: string;
}

/** An application with an access key, subscribed to the service. */
export async function createTestClient(
  { stores }: TestInstance,
  user: TestUser,
  service: TestService,
): Promise<TestClient> {
  const { organisationId } = user;
  const application = await stores.applications.create({
    organisationId,
    name: "client",
    createdBy: user.userId,
  });
  const { keyId, secret, secretHash } = createAccessKeySecret();
  await stores.accessKeys.create(organisationId, application.id, { id: keyId, secretHash });
  const subscription = await stores.subscriptions.create(organisationId, application.id, service.serviceKey);
  return { applicationId: application.id, keyId, secret, subscriptionId: subscription.id };
}

export async function fetchAccessToken({ gateway }: TestInstance, client: TestClient): Promise<string> {
  const response = await gateway.inject({
    method: "POST",
    url: "/token",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${Buffer.from(`${client.keyId}:${client.secret}`).toString("base64")}`,
    },
    payload: "grant_type=client_credentials",
  });
  const body: unknown = response.json();
  if (
    typeof body === "object" &&
    body !== null &&
    "access_token" in body &&
    typeof body.access_token === "string"
  ) {
    return body.access_token;
  }
  throw new Error(`No access token: ${response.statusCode} ${response.body}`);
}

/** An organisation without members; returns its id. */
export async function createTestOrganisation(database: Database): Promise<string> {
  const id = createUuidV7();
  await database.query({
    text: "insert into organisation (id, name, slug) values ($1, 'Test', $2)",
    values: [id, id],
  });
  return id;
}

type GivenVersion = Pick<NewVersion, "serviceKey" | "version"> & Partial<NewVersion>;

/** A version as a build has made it. What is not given is as for a small project. */
export function createTestVersion(given: GivenVersion): NewVersion {
  return {
    id: createUuidV7(),
    archiveHash: "archive",
    contentHash: `content of ${given.version}`,
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    startMode: "auto",
    network: null,
    output: null,
    inputSchema: null,
    outputSchema: null,
    description: "",
    ...given,
  };
}

/** Makes a version live as the end of a build does, without a build. */
export async function insertTestVersion(database: Database, given: GivenVersion): Promise<void> {
  await database.query({
    text: `with v as (
        insert into version (${VERSION_COLUMNS})
        values ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13::jsonb, $14::json, $15::json, $16, $17, $18, $19, $20::json, $21::jsonb)
        returning service_key
      ) select pg_notify('${ACCESS_CHANNEL}', 'service:' || v.service_key) from v`,
    values: toVersionValues(createTestVersion(given)),
  });
}
