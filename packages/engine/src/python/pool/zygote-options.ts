import type { ProjectKind } from "@platform/contract/project";
import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";

/** What one zygote runs, and who reads what it writes. */
export interface ZygoteOptions {
  readonly version: RunnableVersion;
  readonly startMode: RunnableVersion["startMode"];
  /** It only says what a project of this kind has, and ends; null: it waits for orders. */
  readonly probe: ProjectKind | null;
  /** Children that can exist at the same time. */
  readonly maxChildren: number;
  readonly onEvent: (event: ZygoteEvent) => void;
  /** Its own output: of user code at import, and warnings of the runner. */
  readonly onOutput: (lines: readonly LogLine[]) => void;
}
