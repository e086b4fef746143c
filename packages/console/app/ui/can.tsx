import { Tooltip } from "@mantine/core";
import { cloneElement } from "react";
import type { MouseEvent, ReactElement } from "react";
import { can, explainRefusal } from "@platform/contract/permissions";
import { ROUTES } from "../api/client.ts";
import type { OperationId } from "../api/client.ts";
import { toActor, useScope } from "../api/scope.tsx";

/** What the server would say, by the same table. null: the user may; else why not, a sentence. */
export function useRefusal(op: OperationId): string | null {
  const scope = useScope();
  const actor = toActor(scope);
  const route = ROUTES[op];
  return can(actor, route) ? null : explainRefusal(actor, scope.organisation?.name ?? "this platform", route);
}

interface Actionable {
  readonly onClick?: unknown;
  readonly "aria-disabled"?: boolean | undefined;
  readonly "data-disabled"?: boolean | undefined;
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

interface UnlessProps {
  /** Why it is of no use now, a sentence; null: it is. */
  readonly reason: string | null;
  readonly children: ReactElement<Actionable>;
}

/** A button of a form that is of no use now says why. What has the attribute `disabled` cannot be come to by keys, and says nothing. */
export function Unless({ reason, children }: UnlessProps) {
  const isOfUse = reason === null;
  return (
    <Tooltip label={reason} disabled={isOfUse} events={EVENTS} multiline maw={320}>
      {isOfUse
        ? children
        : cloneElement(children, { onClick: stop, "aria-disabled": true, "data-disabled": true })}
    </Tooltip>
  );
}

const EVENTS = { hover: true, focus: true, touch: true } as const;

function stop(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
