import type { RunnableVersion } from "../port/runtime.ts";
import type { Logger } from "../../base/logger.ts";
import type { Settings } from "../port/settings.ts";
import type { Zygote, ZygoteOptions } from "./zygote.ts";

/** What the pool of a version needs of the runtime that holds it. */
export interface PoolHost {
  readonly version: RunnableVersion;
  readonly settings: Settings;
  readonly startZygote: (
    options: Pick<ZygoteOptions, "version" | "startMode" | "probe" | "onEvent" | "onOutput">,
  ) => Promise<Zygote>;
  /** Why no version at all can be started on this machine now; null: sandboxes work. */
  readonly findSandboxFault: () => Promise<string | null>;
  readonly logger: Logger;
}
