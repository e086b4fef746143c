import { Problem } from "@platform/contract/problems";
import { formatVersion, parseVersion } from "../store/base/columns.ts";
import type { VersionNumber } from "../store/base/columns.ts";

/** The version number that is requested for an upload: itself, or which part of the highest one to increase. */
export type RequestedVersion = { readonly version: string } | { readonly bump: "patch" | "minor" | "major" };

const FIRST_VERSION = "1.0.0";

/**
 * The requested number, or the one after `highest` (null: there is no version yet, so 1.0.0 for every bump).
 *
 * @throws Problem CONFLICT where no number comes after it
 */
export function chooseVersion(highest: string | null, requested: RequestedVersion): string {
  if ("version" in requested) return requested.version;
  const number = highest === null ? null : parseVersion(highest);
  if (number === null) return FIRST_VERSION;
  const next = formatVersion(bump(number, requested.bump));
  if (parseVersion(next) !== null) return next;
  throw new Problem(
    "CONFLICT",
    `The ${requested.bump} part of version ${highest} cannot be increased any further. Increase another part, or name the version.`,
  );
}

function bump({ major, minor, patch }: VersionNumber, part: "patch" | "minor" | "major"): VersionNumber {
  switch (part) {
    case "patch":
      return { major, minor, patch: patch + 1 };
    case "minor":
      return { major, minor: minor + 1, patch: 0 };
    case "major":
      return { major: major + 1, minor: 0, patch: 0 };
    default:
      return part satisfies never;
  }
}
