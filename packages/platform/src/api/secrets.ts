import { formatTimestamp } from "@platform/contract/execution";
import type { SECRETS_API } from "@platform/contract/platform-api/secrets";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Secrets } from "../secrets/secrets.ts";
import { noteAudit } from "../store/audit/trail.ts";
import type { SecretRecord, SecretScope } from "../store/secrets.ts";
import type { PlatformCaller } from "./caller.ts";

type Page = Parameters<typeof readOffsetPage>[0];

/** Handlers of secrets; none of them shows a value. */
export function createSecretHandlers(
  secrets: Secrets,
): OperationHandlers<typeof SECRETS_API, PlatformCaller> {
  const list = async (scope: SecretScope, query: Page) => {
    const page = readOffsetPage(query);
    const items = await secrets.list(scope, { ...page, limit: page.limit + 1 });
    return { status: 200 as const, body: cutOffsetPage(items, page, toSecretBody) };
  };
  const put = async (scope: SecretScope, secret: { name: string; value: string; by: string }) => {
    noteTarget(scope, secret.name);
    return { status: 200 as const, body: toSecretBody(await secrets.put(scope, secret)) };
  };
  const remove = async (scope: SecretScope, name: string, by: string) => {
    noteTarget(scope, name);
    await secrets.delete(scope, name, by);
    return { status: 204 as const };
  };
  return {
    listSecrets: ({ caller, params, query }) => list(toScope(caller, params.key), query),
    putSecret: ({ caller, params, body }) =>
      put(toScope(caller, params.key), { name: params.name, value: body.value, by: caller.userId }),
    deleteSecret: ({ caller, params }) => remove(toScope(caller, params.key), params.name, caller.userId),
    listOrganizationSecrets: ({ caller, query }) => list(toScope(caller, null), query),
    putOrganizationSecret: ({ caller, params, body }) =>
      put(toScope(caller, null), { name: params.name, value: body.value, by: caller.userId }),
    deleteOrganizationSecret: ({ caller, params }) =>
      remove(toScope(caller, null), params.name, caller.userId),
  };
}

function toScope({ organisationId }: PlatformCaller, serviceKey: string | null): SecretScope {
  return { organisationId, serviceKey };
}

/** A name that is no id is left out of the log unless its handler says so: it may be anything until the change was made. */
function noteTarget({ serviceKey }: SecretScope, name: string): void {
  noteAudit({ target: serviceKey === null ? [name] : [serviceKey, name] });
}

function toSecretBody({ name, revision, changedAt, changedBy }: SecretRecord) {
  return { name, revision, changedAt: formatTimestamp(changedAt), changedBy };
}
