import { can } from "@platform/contract/permissions";
import { ROUTES } from "./client.ts";
import type { OperationId } from "./client.ts";
import { toActor } from "./scope.tsx";
import type { Scope } from "./scope.tsx";

/** Whether the server would let the user call the operation: loaders do not ask for what they would be refused. */
export function mayCall(scope: Scope, op: OperationId): boolean {
  return can(toActor(scope), ROUTES[op]);
}
