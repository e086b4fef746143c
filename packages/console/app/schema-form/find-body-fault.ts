import { formatBytes } from "../util/units.ts";

/**
 * Why a text is no body of a start, before anybody is asked; null: it may be one. It is sent as it stands: numbers keep their digits.
 *
 * @param mostBytes of an input by value; null: not known
 */
export function findBodyFault(text: string, mostBytes: number | null): string | null {
  if (mostBytes !== null && new TextEncoder().encode(text).length > mostBytes)
    return `It is larger than ${formatBytes(mostBytes)}. Put it into a data pool, and name the file by dataRef.`;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : "It is no JSON.";
  }
  return typeof body === "object" && body !== null && !Array.isArray(body) ? null : "It has to be an object.";
}
