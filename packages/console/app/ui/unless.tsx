import { Tooltip } from "@mantine/core";
import { cloneElement } from "react";
import type { MouseEvent, ReactElement } from "react";

/** What can be pressed, as far as it is taken from it. */
export interface Actionable {
  readonly onClick?: unknown;
  readonly "aria-disabled"?: boolean | undefined;
  readonly "data-disabled"?: boolean | undefined;
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
