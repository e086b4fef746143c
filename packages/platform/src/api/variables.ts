import { formatTimestamp } from "@platform/contract/execution";
import type { SECRETS_API } from "@platform/contract/platform-api/secrets";
import type { VARIABLES_API } from "@platform/contract/platform-api/variables";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Variables } from "../secrets/variables.ts";
import { noteAudit } from "../store/audit/trail.ts";
import type { VariableKind, VariableRecord, VariableScope } from "../store/variables.ts";
import type { PlatformCaller } from "./caller.ts";

type Page = Parameters<typeof readOffsetPage>[0];

/** Handlers of secrets; none of them shows a value. */
export function createSecretHandlers(
  variables: Variables,
): OperationHandlers<typeof SECRETS_API, PlatformCaller> {
  const { list, put, remove } = handle(variables, "secret", toSecretBody);
  return {
    listSecrets: ({ caller, params, query }) => list(toScope(caller, params.key), query),
    putSecret: ({ caller, params, body }) =>
      put(toScope(caller, params.key), { ...body, name: params.name, by: caller.userId }),
    deleteSecret: ({ caller, params }) =>
      remove(toScope(caller, params.key), { name: params.name, by: caller.userId }),
    listOrganizationSecrets: ({ caller, query }) => list(toScope(caller, null), query),
    putOrganizationSecret: ({ caller, params, body }) =>
      put(toScope(caller, null), { ...body, name: params.name, by: caller.userId }),
    deleteOrganizationSecret: ({ caller, params }) =>
      remove(toScope(caller, null), { name: params.name, by: caller.userId }),
  };
}

/** Handlers of variables that are no secrets. */
export function createVariableHandlers(
  variables: Variables,
): OperationHandlers<typeof VARIABLES_API, PlatformCaller> {
  const { list, put, remove } = handle(variables, "variable", toVariableBody);
  return {
    listVariables: ({ caller, params, query }) => list(toScope(caller, params.key), query),
    putVariable: ({ caller, params, body }) =>
      put(toScope(caller, params.key), { ...body, name: params.name, by: caller.userId }),
    deleteVariable: ({ caller, params }) =>
      remove(toScope(caller, params.key), { name: params.name, by: caller.userId }),
    listOrganizationVariables: ({ caller, query }) => list(toScope(caller, null), query),
    putOrganizationVariable: ({ caller, params, body }) =>
      put(toScope(caller, null), { ...body, name: params.name, by: caller.userId }),
    deleteOrganizationVariable: ({ caller, params }) =>
      remove(toScope(caller, null), { name: params.name, by: caller.userId }),
  };
}

/** The operations of one kind. */
function handle<T>(variables: Variables, kind: VariableKind, toBody: (record: VariableRecord) => T) {
  return {
    list: async (scope: VariableScope, query: Page) => {
      const page = readOffsetPage(query);
      const items = await variables.list(scope, kind, { ...page, limit: page.limit + 1 });
      return { status: 200 as const, body: cutOffsetPage(items, page, toBody) };
    },
    put: async (scope: VariableScope, given: { name: string; value: string; by: string }) => {
      noteTarget(scope, given.name);
      return { status: 200 as const, body: toBody(await variables.put(scope, { ...given, kind })) };
    },
    remove: async (scope: VariableScope, given: { name: string; by: string }) => {
      noteTarget(scope, given.name);
      await variables.delete(scope, { ...given, kind });
      return { status: 204 as const };
    },
  };
}

function toScope({ organisationId }: PlatformCaller, serviceKey: string | null): VariableScope {
  return { organisationId, serviceKey };
}

/** A name that is no id is left out of the log unless its handler says so: it may be anything until the change was made. */
function noteTarget({ serviceKey }: VariableScope, name: string): void {
  noteAudit({ target: serviceKey === null ? [name] : [serviceKey, name] });
}

function toSecretBody({ name, revision, changedAt, changedBy }: VariableRecord) {
  return { name, revision, changedAt: formatTimestamp(changedAt), changedBy };
}

function toVariableBody(record: VariableRecord) {
  return { ...toSecretBody(record), value: record.value ?? "" };
}
