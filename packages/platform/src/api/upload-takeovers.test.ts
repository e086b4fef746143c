import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createDeferred } from "@platform/engine/base/deferred";
import { PARTS } from "../pools/part-files.ts";
import { createUploads } from "../pools/uploads.ts";
import type { UploadStore } from "../store/pools/uploads.ts";
import { idOf, useUploads } from "../testing/upload-scene.ts";

const { state, beginUpload, listFiles, readFile, waitForWriter } = useUploads();

/** The uploads of a process of its own. */
const startProcess = (wrap: Partial<UploadStore> = {}) =>
  createUploads({
    store: { ...state.here.stores.uploads, ...wrap },
    files: state.here.stores.poolFiles,
    objects: state.here.objects,
    folder: join(state.directory, "objects", PARTS),
    isDiskLow: () => false,
  });

const partOf = (content: Readable) => ({
  content,
  offset: 0,
  bytes: null,
  sum: null,
  yielding: new AbortController().signal,
  requireStill: async () => undefined,
});

test("who takes over from one that has no part of its own yet leaves the part of the one before it alone: that one may still write", async () => {
  const path = await beginUpload();
  const { organisationId, userId } = state.owner;
  const key = { organisationId, userId, id: idOf(path) };
  const [reached, goOn] = [createDeferred<void>(), createDeferred<void>()];
  const { setParts, claim } = state.here.stores.uploads;
  let claims = 0;
  const here = startProcess({
    claim: async (...asked) => {
      const claimed = await claim(...asked);
      claims += 1;
      return claimed;
    },
    setParts: async (writer, parts) => {
      reached.resolve();
      await goOn.promise;
      return setParts(writer, parts);
    },
  });
  const content = new Readable({ read: () => undefined });
  content.push("xxxxx");
  const first = startProcess().append(key, partOf(content));
  await waitForWriter(path);
  const second = here.append(key, partOf(Readable.from([Buffer.from("2222222222")])));
  await reached.promise;
  const third = here.append(key, partOf(Readable.from([Buffer.from("3333333333")])));
  await expect.poll(() => claims).toBe(2);
  goOn.resolve();
  const ends = await Promise.allSettled([second, third]);
  content.push("xxxxx");
  content.push(null);
  await expect(first).rejects.toMatchObject({ code: "UPLOAD_LOCKED" });
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(await readFile((await listFiles())[0]?.fileId)).toBe("3333333333");
});
