import { Worker } from "node:worker_threads";
import { SECOND } from "@platform/engine/base/time";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";
import type { PlainSchema } from "./plain-schema.ts";

/** Processor time for the models of one client, beyond that of loading the generator; common schemas take a tenth of a second. */
const GENERATION_MS = 2 * SECOND;
/** Longest time by the clock: a machine with other work takes long for everything, also for common schemas. */
const LONGEST_MS = 180 * SECOND;
const LOOK_MS = 100;
const MEMORY_MB = 256;

/** What becomes a class: a part of a start, or the result. */
export interface ModelPart {
  /** Name of the class. */
  readonly name: "Data" | "Params" | "Output";
  readonly schema: PlainSchema;
}

/** What is generated. */
export interface ModelRequest {
  readonly language: ClientLanguage;
  readonly parts: readonly ModelPart[];
  /** Package of the Java classes. */
  readonly javaPackage: string;
}

/** Limits of one generation. */
interface ModelLimits {
  readonly generationMs?: number;
  readonly memoryMb?: number;
}

/** Texts of the files by their name. */
export type ModelFiles = Readonly<Record<string, string>>;

/** Generates the classes of a client in a thread of its own. `null`: it would exceed its time or memory, or failed, so that the client has to do without. */
export function generateModels(
  request: ModelRequest,
  { generationMs = GENERATION_MS, memoryMb = MEMORY_MB }: ModelLimits = {},
): Promise<ModelFiles | null> {
  const thread = new Worker(new URL("./model-thread.ts", import.meta.url), {
    workerData: request,
    execArgv: [],
    // Nothing of this process is its business: not its settings, and not its output.
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  return new Promise((resolve) => {
    const end = (files: ModelFiles | null): void => {
      clearInterval(looks);
      clearTimeout(last);
      resolve(files);
      void thread.terminate();
    };
    const last = setTimeout(() => end(null), LONGEST_MS);
    let loadedAt: number | null = null;
    const looks = setInterval(() => {
      // A thread that has ended says nothing; its end is an event of its own.
      readProcessorMs(thread).then(
        (used) => (loadedAt !== null && used - loadedAt >= generationMs ? end(null) : undefined),
        () => undefined,
      );
    }, LOOK_MS);
    thread.on("message", (message: { readonly loadedAt: number } | { readonly files: ModelFiles }) => {
      if ("files" in message) end(message.files);
      else loadedAt = message.loadedAt;
    });
    // Its failures say nothing that a caller could act on: the schema is too much for the generator.
    thread.on("error", () => end(null));
    thread.on("exit", () => end(null));
  });
}

async function readProcessorMs(thread: Worker): Promise<number> {
  const { user, system } = await thread.cpuUsage();
  return (user + system) / 1_000;
}
