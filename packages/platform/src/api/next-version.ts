import { Problem } from "@platform/contract/problems";
import { formatVersion, parseVersion } from "../store/base/columns.ts";
import type { VersionNumber } from "../store/base/columns.ts";

/** Which number an upload should get. */
export type VersionWish = { readonly version: string } | { readonly bump: "patch" | "minor" | "major" };

const FIRST_VERSION = "1.0.0";

/**
 * The wished number, or the one after `highest` (null: there is none yet, so 1.0.0 whatever the bump).
 *
 * @throws Problem CONFLICT where no number comes after it
 */
export function chooseVersion(highest: string | null, wish: VersionWish): string {
  if ("version" in wish) return wish.version;
  const number = highest === null ? null : parseVersion(highest);
  if (number === null) return FIRST_VERSION;
  const next = formatVersion(bump(number, wish.bump));
  if (parseVersion(next) !== null) return next;
  throw new Problem(
    "CONFLICT",
    `The ${wish.bump} part of version ${highest} is as high as it can be; bump another part, or name the version.`,
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
