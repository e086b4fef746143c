import type { ReactElement } from "react";
import { can, explainRefusal } from "@platform/contract/permissions";
import { ROUTES } from "../api/client.ts";
import type { OperationId } from "../api/client.ts";
import { toActor, useScope } from "../api/scope.tsx";
import { Unless } from "./unless.tsx";
import type { Actionable } from "./unless.tsx";

/** What the server would say, by the same table. null: the user may; else why not, a sentence. */
export function useRefusal(op: OperationId): string | null {
  const scope = useScope();
  const actor = toActor(scope);
  const route = ROUTES[op];
  return can(actor, route) ? null : explainRefusal(actor, scope.organisation?.name ?? "this platform", route);
}

interface CanProps {
  readonly op: OperationId;
  /** Why it is of no use now to those who may, e.g. "The last owner cannot leave."; null or absent: it is. */
  readonly unless?: string | null | undefined;
  readonly children: ReactElement<Actionable>;
}

/** A button or link for who may use it. For others it stays, says why not, and does nothing: a hidden button cannot be asked for. */
export function Can({ op, unless = null, children }: CanProps) {
  return <Unless reason={useRefusal(op) ?? unless}>{children}</Unless>;
}
