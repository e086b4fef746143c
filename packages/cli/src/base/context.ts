import type { ConfigFile } from "./config-file.ts";
import type { Output } from "./output.ts";
import type { Prompts } from "./prompts.ts";
import type { Settings } from "./settings.ts";

/** All that a command may touch. */
export interface CommandContext {
  readonly settings: Settings;
  readonly config: ConfigFile;
  readonly output: Output;
  /** Null where nothing may prompt: no terminal, or `--json`. */
  readonly prompts: Prompts | null;
  /** Absolute working directory. */
  readonly directory: string;
  /** Aborts on Ctrl-C and when the process is asked to end. */
  readonly signal: AbortSignal;
  /** All of standard input as text. */
  readonly readStandardInput: () => Promise<string>;
}
