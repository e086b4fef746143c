import { PLATFORM_API } from "./platform-api.ts";
import { UPLOADS_API } from "./uploads.ts";
import type { OperationTable } from "../operation.ts";
import { BUDGETS_API } from "../quantum-api/budgets.ts";
import { SESSIONS_API } from "../quantum-api/sessions.ts";

/** What no operation of its own does: a wrong secret at the gateway, a forged request, a password on the page of `platform login`, commands of the server. */
const OTHERS = [
  "access-key.use",
  "device-login.confirm",
  "operator.grant",
  "operator.revoke",
  "session.forge",
] as const;

/** Names of all actions that an entry of the audit log can have, in order. */
export const AUDIT_ACTIONS: readonly string[] = listActions();

function listActions(): readonly string[] {
  const tables: readonly OperationTable[] = [PLATFORM_API, UPLOADS_API, BUDGETS_API, SESSIONS_API];
  const named = tables.flatMap((table) => Object.values(table).map(({ audit }) => audit));
  return [...new Set([...named.filter((name) => name !== null), ...OTHERS])].sort();
}
