import { isAbsolute } from "node:path";

/** Why a program may run on the host, outside of every sandbox. */
export type TrustReason =
  /** It came with the platform: Node itself, the embedded PostgreSQL. */
  | "ours"
  /** Found on the operator's search path: bwrap, uv, python3, id. */
  | "search path"
  | "named by the operator"
  /** The base installation that a trusted Python has reported. */
  | "base interpreter"
  /** The operator switched the sandbox off: all deployed code is trusted. */
  | "no sandbox";

/**
 * A program that may be started on the host. Nothing that a deployer can write may ever become one: an environment's `bin/python`, a
 * project's file or a package's script are only arguments of a trusted bubblewrap. Because of the private member, forging one is a type error
 * and, at run time, a TypeError. The lint configuration lists the few files that may create one.
 */
export class TrustedExecutable {
  readonly path: string;
  readonly #reason: TrustReason;

  private constructor(path: string, reason: TrustReason) {
    if (!isAbsolute(path)) throw new Error(`Only absolute paths can be trusted, not '${path}'.`);
    this.path = path;
    this.#reason = reason;
  }

  /** Declares the program at this absolute path trusted, with the reason. Never for a path in a folder that deployed code can write. */
  static vouchFor(path: string, reason: TrustReason): TrustedExecutable {
    return new TrustedExecutable(path, reason);
  }

  /** @throws TypeError for anything that was not created by `vouchFor` */
  get reason(): TrustReason {
    return this.#reason;
  }
}
