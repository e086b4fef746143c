import { asOrdinaryUser } from "@platform/engine/testing/as-user";
import { refuseNamespaces } from "@platform/engine/testing/without-namespaces";
import { PLATFORM_COMMAND } from "../../tools/platform-process.ts";

/** The platform on a host that refuses user namespaces, as many containers do: level C. */
export const CONFINED_PLATFORM = refuseNamespaces(PLATFORM_COMMAND);

/** The platform started by an ordinary user, where the tests are run by root. */
export const ORDINARY_PLATFORM = asOrdinaryUser(PLATFORM_COMMAND);
