import { Problem } from "@platform/contract/problems";

/** A whole number in a query string, of as many digits as the largest bound of any operation. */
export const DIGITS = /^[0-9]{1,9}$/;

/** A parameter of a query string that was not validated by a schema. @throws Problem INVALID_INPUT when it is given more than once */
export function readParameter(query: unknown, name: string): string | undefined {
  if (typeof query !== "object" || query === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(query, name)?.value;
  if (value === undefined || typeof value === "string") return value;
  throw refuseParameter(name, "is given more than once");
}

/** The problem INVALID_INPUT for a query parameter; `reason` completes a sentence that begins with its name and has no period. */
export function refuseParameter(name: string, reason: string): Problem {
  return new Problem("INVALID_INPUT", `The query parameter "${name}" ${reason}.`, {
    errors: [{ path: `/${name}`, message: `${reason}.` }],
  });
}
