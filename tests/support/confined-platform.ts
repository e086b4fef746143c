import { join } from "node:path";
import { execPath } from "node:process";
import { refuseNamespaces } from "@platform/engine/testing/without-namespaces";
import { REPOSITORY } from "../../tools/platform-process.ts";

/** The platform on a host that refuses user namespaces, as many containers do: level C. */
export const CONFINED_PLATFORM = refuseNamespaces([
  execPath,
  join(REPOSITORY, "packages/platform/src/main.ts"),
]);
