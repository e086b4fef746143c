import type { ComponentPropsWithRef, MouseEvent } from "react";

interface SteadyButtonProps extends ComponentPropsWithRef<"button"> {
  readonly "data-loading"?: boolean;
}

/**
 * The native element of buttons. The kit disables a button while it loads, and browsers take the focus from what is disabled: whoever uses
 * keys would be nowhere afterwards, in a dialog behind its end. This one keeps the focus, and does nothing meanwhile.
 */
export function SteadyButton({ disabled, type, onClick, ...button }: SteadyButtonProps) {
  const isLoading = button["data-loading"] === true;
  const held = isLoading ? { "aria-disabled": true, onClick: refuse } : { disabled, onClick };
  return <button {...button} {...held} type={type ?? "button"} />;
}

/** A press of a form's button would send it once more. */
function refuse(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
