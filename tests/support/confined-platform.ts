import { refuseNamespaces } from "@platform/engine/testing/without-namespaces";
import { PLATFORM_COMMAND } from "../../tools/platform-process.ts";

/** The platform on a host that refuses user namespaces, as many containers do: level C. */
export const CONFINED_PLATFORM = refuseNamespaces(PLATFORM_COMMAND);
