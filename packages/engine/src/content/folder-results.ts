import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ResultStore } from "./result-store.ts";

/** Results as files of a folder, which is made when it is needed and lasts for as long as its creator wants: those of `platform serve`. */
export function createFolderResults(directory: string): ResultStore {
  return {
    receive: async (content, limit) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const path = join(directory, randomUUID());
      const digest = createHash("sha256");
      let bytes = 0;
      const measured = new Transform({
        transform(chunk: Uint8Array, _encoding, done) {
          bytes += chunk.length;
          digest.update(chunk);
          done(bytes > limit ? new Error(`the content is larger than ${limit} bytes`) : null, chunk);
        },
      });
      try {
        await pipeline(content, measured, createWriteStream(path, { flags: "wx", mode: 0o600 }));
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
      const hash = digest.digest("hex");
      return {
        hash,
        bytes,
        path,
        keep: async () => rename(path, join(directory, hash)),
        drop: async () => rm(path, { force: true }),
      };
    },
    read: async (hash, { start, end }) => createReadStream(join(directory, hash), { start, end: end - 1 }),
  };
}
