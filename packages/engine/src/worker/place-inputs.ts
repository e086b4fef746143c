import { join } from "node:path";
import { explainFileName } from "@platform/contract/file-name";
import type { InputSource } from "../store/execution-store.ts";
import { INPUT_NAMES } from "../python/port/runtime.ts";
import type { PinnedInputs, StagingArea } from "../python/port/runtime.ts";

/** Files of a data pool that are fetched at one time: a store on another machine takes its time for each. */
const CONCURRENCY = 8;

/** Puts what the pins name where the run finds it; null, or what is gone, as the subject of a sentence. */
export async function placeInputs(
  inputs: Pick<InputSource, "place">,
  pins: PinnedInputs,
  area: StagingArea,
): Promise<string | null> {
  for (const name of INPUT_NAMES) {
    const pin = pins[name];
    if (pin === undefined) continue;
    if ((await inputs.place(pin, area.locate(name))) === "gone") return `The file that ${name}Ref names`;
  }
  for (const [number, { files }] of (pins.pools ?? []).entries()) {
    const folder = await area.makePool(number);
    const missing = await placeFiles(inputs, files, folder);
    if (missing !== null) return `The file ${missing} of a data pool`;
  }
  return null;
}

/** The name of a file that is gone. */
async function placeFiles(
  inputs: Pick<InputSource, "place">,
  files: NonNullable<PinnedInputs["pools"]>[number]["files"],
  folder: string,
): Promise<string | null> {
  const waiting = files.values();
  let missing: string | null = null;
  let failed = false;
  const work = async () => {
    for (const { name, ...pin } of waiting) {
      if (missing !== null || failed) return;
      // It becomes a path.
      if (explainFileName(name) !== null) throw new Error("A pinned file has a name that none can have.");
      if ((await inputs.place(pin, join(folder, name))) === "gone") missing = name;
    }
  };
  const guarded = () =>
    work().catch((error: unknown) => {
      failed = true;
      throw error;
    });
  const workers = await Promise.allSettled(Array.from({ length: CONCURRENCY }, guarded));
  // All have stopped: nothing is put into a folder that is removed.
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return missing;
}
