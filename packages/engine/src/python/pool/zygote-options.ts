import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";

/** What one zygote runs, and who reads what it writes. */
export interface ZygoteOptions {
  readonly version: RunnableVersion;
  readonly startMode: RunnableVersion["startMode"];
  /** Whether it only describes `run` and ends, instead of waiting for orders. */
  readonly probe: boolean;
  /** Children that can exist at the same time. */
  readonly maxChildren: number;
  readonly onEvent: (event: ZygoteEvent) => void;
  /** Its own output: of user code at import, and warnings of the runner. */
  readonly onOutput: (lines: readonly LogLine[]) => void;
}
