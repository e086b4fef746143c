import { strToU8, zip } from "fflate";
import { SAMPLE_FILES } from "./sample-project.gen.ts";

/** The sample project under a name, as `platform compress` would pack it. */
export function packSample(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const files = Object.fromEntries(
    Object.entries(SAMPLE_FILES).map(([path, text]) => [path, strToU8(text.replaceAll("{{name}}", name))]),
  );
  return new Promise((resolve, reject) => {
    zip(files, (error, archive) => (error === null ? resolve(new Uint8Array(archive)) : reject(error)));
  });
}
