import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createGrowingSchedules } from "../testing/growing-schedules.ts";
import { createGrowingWebhooks } from "../testing/growing-webhooks.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { FILL_SHARES_OF_MANY, FILL_SHARES_OF_ONE } from "../testing/share-fills.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { BOUNDS } from "./base/bounds.ts";
import type { BoundName } from "./base/bounds.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let user: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  user = await createTestUser(here);
});

const run = (text: string, ...values: readonly unknown[]) => home.database.query({ text, values });

/** How the rows of a bound are made. */
interface Growing {
  /** The row that is the parent: `$1` is its id. */
  readonly parent: string;
  /** Makes what is needed; returns the parent's id, and what makes one more. */
  readonly prepare: () => Promise<{ readonly parentId: string; readonly make: () => Promise<unknown> }>;
  /** Inserts `$2` more rows of the parent `$1`; `$3`: id of the user. */
  readonly fill: string;
}

const USER = "platform_user where id = $1";
const ORGANISATION = "organisation where id = $1";
const SERVICE = "service where key = $1";
const APPLICATION = "application where id = $1";
const POOL = "data_pool where id = $1";
const createName = () => `n${randomUUID().slice(0, 8)}`;

async function post(path: string, body?: unknown, method = "POST"): Promise<void> {
  const answer = await call(user, `${method} ${path}`, body);
  if (answer.status >= 400) throw Object.assign(new Error(path), { code: answer.body["code"] });
}

async function createService(publication: "marketplace" | null = null, owner = user): Promise<string> {
  const { organisationId } = owner;
  const { key } = await here.stores.services.create({ organisationId, name: createName(), description: "" });
  if (publication !== null) await here.stores.services.publish(organisationId, key, publication);
  return key;
}

async function createApplication(): Promise<string> {
  const { organisationId, userId: createdBy } = user;
  return (await here.stores.applications.create({ organisationId, name: "shop", createdBy })).id;
}

async function createPool(): Promise<string> {
  const { organisationId, userId: createdBy } = user;
  const wanted = { organisationId, name: createName(), description: "", createdBy };
  const pool = await here.stores.dataPools.create(wanted);
  if (pool === "name taken") throw new Error("The name of a new data pool is taken.");
  return pool.id;
}

const share = (pool: string, receiver: TestUser | undefined) =>
  post(`/data-pools/${pool}/shares/${receiver?.organisationId ?? ""}`, { role: "viewer" }, "PUT");

async function prepareReceiver() {
  const receiver = await createTestUser(here);
  const pools = await Promise.all([1, 2, 3].map(() => createPool()));
  return { parentId: receiver.organisationId, make: () => share(pools.pop() ?? "", receiver) };
}

/** A link that makes its reader a member of an organisation of somebody. */
async function invite(owner: TestUser): Promise<string> {
  const { body } = await call(owner, "POST /invitations", { role: "viewer" });
  return String(body["url"]).split("/").at(-1) ?? "";
}

const HASH = "0".repeat(64);

const FILL_PLANS = `insert into plan (id, service_key, slug, revision, name, description, ended_at)
  select gen_random_uuid(), $1, 'p' || i, 1, 'p', '', case when $4 then now() end from generate_series(1, $2) as i where $3::text <> ''`;

const GROWING: Readonly<Record<Exclude<BoundName, "sessions">, Growing>> = {
  tokens: {
    parent: USER,
    prepare: async () => ({
      parentId: user.userId,
      make: () => post("/personal-access-tokens", { name: "one" }),
    }),
    // One is the test's own.
    fill: `insert into personal_access_token (id, user_id, name, token_hash, scopes)
      select gen_random_uuid(), $1, 'many', gen_random_uuid()::text, '{}' from generate_series(2, $2) where $3::text <> ''`,
  },
  memberships: {
    parent: USER,
    prepare: async () => {
      const links = await Promise.all([1, 2, 3].map(async () => await invite(await createTestUser(here))));
      return { parentId: user.userId, make: () => post(`/invitations/${links.pop() ?? ""}/accept`) };
    },
    // One is the user's own organisation.
    fill: `with made as (
        insert into organisation (id, name, slug) select gen_random_uuid(), 'many', gen_random_uuid()::text from generate_series(2, $2)
        returning id
      ) insert into member (organisation_id, user_id, role) select id, $1, 'viewer' from made where $3::text <> ''`,
  },
  ownedOrganisations: {
    parent: USER,
    prepare: async () => ({
      parentId: user.userId,
      make: () => post("/organizations", { name: createName() }),
    }),
    fill: `with made as (
        insert into organisation (id, name, slug) select gen_random_uuid(), 'many', gen_random_uuid()::text from generate_series(1, $2)
        returning id
      ) insert into member (organisation_id, user_id, role) select id, $1, 'owner' from made where $3::text <> ''`,
  },
  members: {
    parent: ORGANISATION,
    prepare: async () => {
      const links = await Promise.all([1, 2, 3].map(() => invite(user)));
      const guests = await Promise.all([1, 2, 3].map(() => createTestUser(here)));
      const { organisationId } = user;
      return {
        parentId: organisationId,
        make: () =>
          here.identity.acceptInvitation(links.pop() ?? "", guests.pop() ?? { userId: "", email: "" }),
      };
    },
    // One is the owner.
    fill: `with made as (
        insert into platform_user (id, email, name) select gen_random_uuid(), gen_random_uuid() || '@example.org', 'many'
        from generate_series(2, $2) returning id
      ) insert into member (organisation_id, user_id, role) select $1, id, 'viewer' from made where $3::text <> ''`,
  },
  invitations: {
    parent: ORGANISATION,
    prepare: async () => ({
      parentId: user.organisationId,
      make: () => post("/invitations", { role: "viewer" }),
    }),
    fill: `insert into invitation (id, organisation_id, role, token_hash, invited_by, expires_at)
      select gen_random_uuid(), $1, 'viewer', gen_random_uuid()::text, $3, now() + interval '1 day' from generate_series(1, $2)`,
  },
  applications: {
    parent: ORGANISATION,
    prepare: async () => ({
      parentId: user.organisationId,
      make: () => post("/applications", { name: "one" }),
    }),
    fill: `insert into application (id, organisation_id, name, created_by)
      select gen_random_uuid(), $1, 'many', $3 from generate_series(1, $2)`,
  },
  services: {
    parent: ORGANISATION,
    prepare: async () => ({
      parentId: user.organisationId,
      make: () => post("/services", { name: createName() }),
    }),
    fill: `insert into service (key, organisation_id, name, description)
      select gen_random_uuid(), $1, 'many' || i, $3 from generate_series(1, $2) as i`,
  },
  accessKeys: {
    parent: APPLICATION,
    prepare: async () => {
      const id = await createApplication();
      return { parentId: id, make: () => post(`/applications/${id}/access-keys`) };
    },
    fill: `insert into access_key (id, application_id, secret_hash)
      select gen_random_uuid()::text, $1, $3 from generate_series(1, $2)`,
  },
  subscriptions: {
    parent: APPLICATION,
    prepare: async () => {
      const applicationId = await createApplication();
      const keys = [
        await createService("marketplace"),
        await createService("marketplace"),
        await createService("marketplace"),
      ];
      return {
        parentId: applicationId,
        make: () => post("/subscriptions", { applicationId, serviceKey: keys.pop() }),
      };
    },
    fill: `with made as (
        insert into service (key, organisation_id, name, description)
        select gen_random_uuid(), a.organisation_id, 'many' || i, $3 from application a, generate_series(1, $2) as i where a.id = $1
        returning key
      ) insert into subscription (id, application_id, service_key) select gen_random_uuid(), $1, key from made`,
  },
  plans: {
    parent: SERVICE,
    prepare: async () => {
      const key = await createService();
      return {
        parentId: key,
        make: () => post(`/services/${key}/plans/${createName()}`, { name: "One" }, "PUT"),
      };
    },
    fill: FILL_PLANS.replace("$4", "false"),
  },
  planRevisions: {
    parent: SERVICE,
    prepare: async () => {
      const key = await createService();
      return {
        parentId: key,
        make: () => post(`/services/${key}/plans/basic`, { name: createName() }, "PUT"),
      };
    },
    fill: FILL_PLANS.replace("$4", "true"),
  },
  dataPools: {
    parent: ORGANISATION,
    prepare: async () => ({
      parentId: user.organisationId,
      make: () => post("/data-pools", { name: createName() }),
    }),
    fill: `insert into data_pool (id, organisation_id, name, name_key, created_by)
      select gen_random_uuid(), $1, 'many', 'many' || i, $3 from generate_series(1, $2) as i`,
  },
  uploads: {
    parent: ORGANISATION,
    prepare: async () => {
      const { organisationId, userId } = user;
      const poolId = await createPool();
      const head = { name: "a", mediaType: "text/plain", metadata: "", bytes: 0, sha256: null };
      return {
        parentId: organisationId,
        make: () =>
          here.stores.uploads.create({ ...head, organisationId, userId, poolId, place: randomUUID() }),
      };
    },
    fill: `insert into pool_upload (id, organisation_id, pool_id, owner_id, created_by, name, media_type, metadata, bytes, place, expires_at)
      select gen_random_uuid(), $1, p.id, $1, $3, 'a', 'text/plain', '', 0, gen_random_uuid(), now() + interval '1 day'
      from generate_series(1, $2), data_pool p where p.organisation_id = $1`,
  },
  poolFiles: {
    parent: POOL,
    prepare: async () => {
      const { organisationId, userId: createdBy } = user;
      const id = await createPool();
      const stored = { hash: HASH, bytes: 0, mediaType: "text/plain", mayReplace: true };
      await run("insert into object (hash) values ($1) on conflict do nothing", HASH);
      return {
        parentId: id,
        make: () =>
          here.stores.poolFiles.put({ ...stored, organisationId, poolId: id, name: createName(), createdBy }),
      };
    },
    fill: `insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
      select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'many', 'many' || i, '', '${HASH}', 0, $3
      from generate_series(1, $2) as i`,
  },
  poolShares: {
    parent: POOL,
    prepare: async () => {
      const id = await createPool();
      const receivers = await Promise.all([1, 2, 3].map(() => createTestUser(here)));
      return { parentId: id, make: () => share(id, receivers.pop()) };
    },
    fill: `with made as (
        insert into organisation (id, name, slug) select gen_random_uuid(), 'many', gen_random_uuid()::text from generate_series(1, $2)
        returning id
      ) insert into data_pool_share (pool_id, organisation_id, role, created_by) select $1, id, 'viewer', $3 from made`,
  },
  sharedPoolsOfOne: {
    parent: ORGANISATION,
    prepare: prepareReceiver,
    fill: FILL_SHARES_OF_ONE,
  },
  sharedPools: {
    parent: ORGANISATION,
    prepare: prepareReceiver,
    fill: FILL_SHARES_OF_MANY,
  },
  poolGrants: {
    parent: POOL,
    prepare: async () => {
      const id = await createPool();
      const applications = await Promise.all([1, 2, 3].map(() => createApplication()));
      const make = () =>
        post(`/data-pools/${id}/grants/${applications.pop() ?? ""}`, { access: "read" }, "PUT");
      return { parentId: id, make };
    },
    fill: `with made as (
        insert into application (id, organisation_id, name, created_by)
        select gen_random_uuid(), p.organisation_id, 'many', $3::uuid from data_pool p, generate_series(1, $2) where p.id = $1 returning id
      ) insert into data_pool_grant (pool_id, application_id, access, created_by) select $1, id, 'read', $3::uuid from made`,
  },
  ...createGrowingSchedules(async () => {
    return { ...user, ...(await createTestService(here, user)), createName, post };
  }),
  ...createGrowingWebhooks(async () => {
    const id = await createApplication();
    const list = () => here.stores.webhooks.list({ ...user, applicationId: id }, { limit: 1 });
    return { id, post, list };
  }),
  variables: {
    parent: SERVICE,
    prepare: async () => {
      const key = await createService();
      return {
        parentId: key,
        make: () =>
          post(`/services/${key}/secrets/${createName().toUpperCase()}`, { value: "a long value" }, "PUT"),
      };
    },
    fill: `insert into variable (organisation_id, scope_id, name, revision, sealed, key_id, changed_by)
      select s.organisation_id, $1, 'MANY_' || i, 1, 'x', '', $3 from service s, generate_series(1, $2) as i where s.key = $1`,
  },
};

const NAMES = Object.keys(GROWING).filter((name): name is keyof typeof GROWING => name in GROWING);

test.each(NAMES)(
  "of three at once that would go past the limit of %s one is made, and two are refused with QUOTA_EXCEEDED",
  async (name) => {
    const { parent, prepare, fill } = GROWING[name];
    const { parentId, make } = await prepare();
    await run(fill, parentId, BOUNDS[name].limit - 1, user.userId);
    const lock = { text: `select 1 from ${parent} for update`, values: [parentId] };
    const answers = await startAtOnce(home, lock, () =>
      [1, 2, 3].map(() =>
        make().then(
          () => "made",
          (error: unknown) => String(error instanceof Error && "code" in error ? error.code : error),
        ),
      ),
    );
    expect(answers.toSorted()).toEqual(["QUOTA_EXCEEDED", "QUOTA_EXCEEDED", "made"]);
  },
);

const signIn = () => here.identity.createSession(user.userId, { userAgent: "test", ip: "192.0.2.1" });

test("of the sessions of a user the one that was not used for the longest time ends where there are too many", async () => {
  const first = await signIn();
  const second = await signIn();
  for (const cookie of [first, second])
    expect(await here.identity.verifySession(cookie ?? "")).not.toBeNull();
  await run(
    "update session set last_seen_at = now() - interval '1 hour' where id = (select id from session where user_id = $1 order by created_at, id limit 1)",
    user.userId,
  );
  await run(
    `insert into session (id, user_id, token_hash, device, ip, expires_at)
      select gen_random_uuid(), $1, gen_random_uuid()::text, '', '', now() + interval '1 day' from generate_series(3, $2)`,
    user.userId,
    BOUNDS.sessions.limit - 1,
  );
  const lock = { text: `select 1 from ${USER} for update`, values: [user.userId] };
  const made = await startAtOnce(home, lock, () => [1, 2].map(() => signIn()));
  expect(made.every((cookie) => cookie !== null)).toBe(true);
  const open = await run("select 1 from session where user_id = $1 and revoked_at is null", user.userId);
  expect(open).toHaveLength(BOUNDS.sessions.limit);
});

async function readPasswordHash(): Promise<string> {
  const [row] = await home.database.query<{ hash: string }>({
    text: "select password_hash as hash from platform_user where id = $1",
    values: [user.userId],
  });
  return row?.hash ?? "";
}

test("a program that was logged in gets no token beyond the limit, and gets it when there is room", async () => {
  await run(GROWING.tokens.fill, user.userId, BOUNDS.tokens.limit, user.userId);
  const login = await here.identity.startDeviceLogin({ name: "cli", ip: "192.0.2.1", scopes: ["admin"] });
  const asked = await here.identity.askDeviceLogin(login.userCode, {
    userId: user.userId,
    passwordHash: await readPasswordHash(),
  });
  await here.identity.decideDeviceLogin(asked?.ticket ?? "", "approved");
  const finish = () => here.identity.finishDeviceLogin(login.deviceCode);
  await expect(finish()).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  await run(
    "update personal_access_token set revoked_at = now() where name = 'many' and user_id = $1",
    user.userId,
  );
  await run("update device_login set asked_at = null");
  expect(await finish()).toMatchObject({ scopes: ["admin"] });
});
