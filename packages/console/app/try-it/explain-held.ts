import type { Unfinished } from "../schema-form/schema-fields.tsx";

/** Why an input is not sent; null: it is. */
export function explainHeld(fault: string | null, unfinished: Unfinished): string | null {
  return fault ?? (unfinished.size > 0 ? "A field has a value that cannot be sent yet." : null);
}

/** Why there is nothing to take back; null: there is. */
export function explainUnchanged(text: string, example: string, unfinished: Unfinished): string | null {
  return text === example && unfinished.size === 0 ? "The input is that of the example." : null;
}
