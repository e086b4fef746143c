import type { ConfigFile } from "./config-file.ts";
import type { Output } from "./output.ts";
import type { Prompts } from "./prompts.ts";
import type { Settings } from "./settings.ts";

/** The environment of a command. Commands use nothing else of the process. */
export interface CommandContext {
  readonly settings: Settings;
  readonly config: ConfigFile;
  readonly output: Output;
  /** Null if prompting is not possible: no terminal, or `--json`. */
  readonly prompts: Prompts | null;
  /** Absolute working directory. */
  readonly directory: string;
  /** Aborts on SIGINT (Ctrl-C) and SIGTERM. */
  readonly signal: AbortSignal;
  /** Reads standard input to its end, as UTF-8. */
  readonly readStandardInput: () => Promise<string>;
}
