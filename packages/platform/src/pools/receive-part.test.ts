import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, test } from "vitest";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { StoreFull } from "../objects/object-store.ts";
import { PartTooLong, receivePart } from "./receive-part.ts";
import type { PartTarget } from "./receive-part.ts";

let path: string;
let file: FileHandle;
let lasting: number[];

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "part-"));
  path = join(folder, "part");
  file = await open(path, "wx");
  lasting = [];
  return async () => {
    await file.close();
    await rm(folder, { recursive: true });
  };
});

const target = (more: Partial<PartTarget> = {}): PartTarget => ({
  file,
  position: 0,
  limit: Infinity,
  sum: null,
  digest: null,
  onLasting: async (bytes) => void lasting.push(bytes),
  signal: new AbortController().signal,
  ...more,
});

async function* produce(megabytes: number, failure: Error | null = null) {
  for (let given = 0; given < megabytes; given++) yield Buffer.alloc(MEGABYTE, String(given % 10));
  if (failure !== null) throw failure;
}

describe("a part", () => {
  test("lasts every 16 MB while it comes, so that a killed process loses no more", async () => {
    await receivePart(Readable.from(produce(40)), target());
    expect(lasting).toEqual([16, 32, 40].map((count) => count * MEGABYTE));
    expect((await readFile(path)).length).toBe(40 * MEGABYTE);
  });

  test("that breaks off lasts as far as it came", async () => {
    const broken = receivePart(Readable.from(produce(3, new Error("gone"))), target());
    await expect(broken).rejects.toThrow("gone");
    expect(lasting).toEqual([3 * MEGABYTE]);
  });

  test("with a sum lasts as a whole, when the sum was compared", async () => {
    const value = createHash("sha1")
      .update(await readAll(produce(20)))
      .digest("base64");
    const sum = { algorithm: "sha1", value } as const;
    await expect(receivePart(Readable.from(produce(20, new Error("gone"))), target({ sum }))).rejects.toThrow(
      "gone",
    );
    expect(lasting).toEqual([]);
    await receivePart(Readable.from(produce(20)), target({ sum }));
    expect(lasting).toEqual([20 * MEGABYTE]);
  });

  test("has the room of what is missing, and nothing is written behind it", async () => {
    const limited = receivePart(Readable.from(produce(3)), target({ limit: 2 * MEGABYTE }));
    await expect(limited).rejects.toThrow(PartTooLong);
    expect((await readFile(path)).length).toBeLessThanOrEqual(2 * MEGABYTE);
  });

  test("that is ended does not last, though it came", async () => {
    const ending = new AbortController();
    const endless = new Readable({ read: () => undefined });
    endless.push("some");
    const part = receivePart(endless, target({ signal: ending.signal }));
    ending.abort(new Error("taken over"));
    await expect(part).rejects.toThrow("taken over");
    expect([lasting, endless.destroyed]).toEqual([[], false]);
  });

  test("on a disk that is full says so", async () => {
    const full = await open("/dev/full", "r+");
    try {
      await expect(receivePart(Readable.from(produce(2)), target({ file: full }))).rejects.toThrow(StoreFull);
      expect(lasting).toEqual([]);
    } finally {
      await full.close();
    }
  });

  test("on a disk that fills up lasts as far as it fits, and gives back the rest", async () => {
    const room = 5 * MEGABYTE + 10;
    const filling = Object.create(file, {
      write: {
        value: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
          const fits = Math.min(length, room - position);
          if (fits <= 0) throw Object.assign(new Error("full"), { code: "ENOSPC" });
          return await file.write(buffer, offset, fits, position);
        },
      },
      truncate: { value: (length: number) => file.truncate(length) },
      datasync: { value: () => file.datasync() },
    }) as FileHandle;
    await expect(receivePart(Readable.from(produce(8)), target({ file: filling }))).rejects.toThrow(
      StoreFull,
    );
    expect(lasting).toEqual([5 * MEGABYTE]);
    expect((await readFile(path)).length).toBe(5 * MEGABYTE);
  });
});

async function readAll(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}
