import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { APPLICATIONS_API, Application } from "@platform/contract/platform-api/applications";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import { createAccessKeySecret } from "../access/access-key-secrets.ts";
import type { AccessKeyRecord } from "../store/access-keys.ts";
import type { ApplicationRecord } from "../store/applications.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";

type Handlers = OperationHandlers<typeof APPLICATIONS_API, PlatformCaller>;

/** What the handlers work with. */
type Deps = Pick<Stores, "applications" | "accessKeys">;

/** For so long a key that is rotated goes on unless the request says otherwise. */
const DEFAULT_OVERLAP_HOURS = 24;
const SECRET_HEADERS = { "cache-control": "no-store" };

/** Handlers of applications and their access keys. */
export function createApplicationHandlers(deps: Deps): Handlers {
  return { ...createOwnHandlers(deps), ...createKeyHandlers(deps) };
}

function createOwnHandlers({
  applications,
}: Deps): Pick<
  Handlers,
  "listApplications" | "createApplication" | "getApplication" | "putApplication" | "deleteApplication"
> {
  return {
    listApplications: async ({ caller, query }) => {
      const page = await applications.list(caller.organisationId, { ...readPage(query), text: query.q });
      return { status: 200, body: { items: page.items.map(toApplicationBody), nextCursor: page.nextCursor } };
    },
    createApplication: async ({ caller, body }) => {
      const { organisationId, userId } = caller;
      const created = await applications.create({ organisationId, name: body.name, createdBy: userId });
      return {
        status: 201,
        body: toApplicationBody(created),
        headers: { location: `/api/applications/${created.id}` },
      };
    },
    getApplication: async ({ caller, params }) => {
      const application = await applications.find(caller.organisationId, params.id);
      if (!application) throw noApplication();
      return { status: 200, body: toApplicationBody(application) };
    },
    putApplication: async ({ caller, params, body }) => {
      const renamed = await applications.rename(caller.organisationId, params.id, body.name);
      if (!renamed) throw noApplication();
      return { status: 200, body: toApplicationBody(renamed) };
    },
    deleteApplication: async ({ caller, params }) => {
      if (!(await applications.delete(caller.organisationId, params.id))) throw noApplication();
      return { status: 204 };
    },
  };
}

function createKeyHandlers({
  accessKeys,
}: Deps): Pick<Handlers, "listAccessKeys" | "createAccessKey" | "rotateAccessKey" | "revokeAccessKey"> {
  return {
    listAccessKeys: async ({ caller, params, query }) => {
      const page = await accessKeys.list(caller.organisationId, params.id, readPage(query));
      if (!page) throw noApplication();
      return { status: 200, body: { items: page.items.map(toAccessKeyBody), nextCursor: page.nextCursor } };
    },
    createAccessKey: async ({ caller, params, body }) => {
      const { keyId, secret, secretHash } = createAccessKeySecret();
      const key = { ...body, id: keyId, secretHash };
      const created = await accessKeys.create(caller.organisationId, params.id, key);
      if (!created) throw noApplication();
      return { status: 201, body: { ...toAccessKeyBody(created), secret }, headers: SECRET_HEADERS };
    },
    rotateAccessKey: async ({ caller, params, body }) => {
      const { keyId, secret, secretHash } = createAccessKeySecret();
      const rotated = await accessKeys.rotate(caller.organisationId, params.id, {
        former: params.keyId,
        next: { id: keyId, secretHash },
        hours: body.oldEndsInHours ?? DEFAULT_OVERLAP_HOURS,
      });
      if (rotated === "no such key") throw noKey();
      if (rotated === "rotated before")
        throw new Problem("CONFLICT", "This access key was rotated before; rotate the key that replaced it.");
      return { status: 201, body: { ...toAccessKeyBody(rotated), secret }, headers: SECRET_HEADERS };
    },
    revokeAccessKey: async ({ caller, params }) => {
      const wasRevoked = await accessKeys.revoke(caller.organisationId, params.id, params.keyId);
      if (!wasRevoked) throw noKey();
      return { status: 204 };
    },
  };
}

function noApplication(): Problem {
  return new Problem("NOT_FOUND", "There is no such application.");
}

function noKey(): Problem {
  return new Problem("NOT_FOUND", "There is no such access key, or it is revoked or expired.");
}

function toApplicationBody(application: ApplicationRecord): Application {
  return { id: application.id, name: application.name, createdAt: formatTimestamp(application.createdAt) };
}

function toAccessKeyBody(key: AccessKeyRecord) {
  return {
    keyId: key.id,
    name: key.name,
    createdAt: formatTimestamp(key.createdAt),
    expiresAt: key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
    replacedBy: key.replacedBy,
    revokedAt: key.revokedAt === null ? null : formatTimestamp(key.revokedAt),
    lastUsedAt: key.lastUsedAt === null ? null : formatTimestamp(key.lastUsedAt),
  };
}
