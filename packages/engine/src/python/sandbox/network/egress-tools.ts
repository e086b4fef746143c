import type { TrustedExecutable } from "../../../host/trusted-executable.ts";
import type { LaunchTools, NamespaceOwner } from "./namespaces.ts";

/** The programs that give a sandbox a way out, and whose namespaces it has. */
export interface EgressTools extends LaunchTools {
  readonly owner: NamespaceOwner;
  readonly ip: TrustedExecutable;
  readonly nsenter: TrustedExecutable;
  readonly slirp: TrustedExecutable;
  readonly unshare: TrustedExecutable;
}
