import { parseExactNumbers } from "@platform/contract/exact-number";

/** A column of json or jsonb that was selected as text, with all digits of its numbers; the driver would make doubles of them. */
export function readExact(text: string | null): Record<string, unknown> | null {
  // Safe: the column was written from such a value.
  return text === null ? null : (parseExactNumbers(text) as Record<string, unknown>);
}
