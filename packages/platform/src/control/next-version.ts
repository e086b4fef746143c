import { formatVersion, parseVersion } from "../store/columns.ts";

/** Which number an upload should get. */
export type VersionWish = { readonly version: string } | { readonly bump: "patch" | "minor" | "major" };

const FIRST_VERSION = "1.0.0";

/** The wished number, or the one after `highest` (null: there is none yet, so 1.0.0 whatever the bump). */
export function chooseVersion(highest: string | null, wish: VersionWish): string {
  if ("version" in wish) return wish.version;
  const number = highest === null ? null : parseVersion(highest);
  if (number === null) return FIRST_VERSION;
  const { major, minor, patch } = number;
  switch (wish.bump) {
    case "patch":
      return formatVersion({ major, minor, patch: patch + 1 });
    case "minor":
      return formatVersion({ major, minor: minor + 1, patch: 0 });
    case "major":
      return formatVersion({ major: major + 1, minor: 0, patch: 0 });
    default:
      return wish.bump satisfies never;
  }
}
