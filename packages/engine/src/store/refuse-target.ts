import { Problem } from "@platform/contract/problems";

/** For a data pool that there is not, or that the caller may not change. */
export function refuseTarget(path = "/persistTo"): Problem {
  const message = "There is no such data pool, or you may not store files in it.";
  return new Problem("DATA_REFERENCE_INVALID", message, { errors: [{ path, message }] });
}
