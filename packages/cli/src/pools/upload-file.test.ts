import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { uploadFile } from "./upload-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-upload-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each(["4", "-1", "1.5", "1e400", "x", null])(
  "an upload ends with an error where the server says that it has %s bytes of a file of three",
  async (offset) => {
    const path = join(folder, "a.json");
    await writeFile(path, "abc");
    const methods: (string | undefined)[] = [];
    const send = async (_path: string, { method }: RequestInit) => {
      methods.push(method);
      if (method === "POST") return new Response(null, { status: 201, headers: { location: "/uploads/1" } });
      return new Response(null, { status: 204, headers: offset === null ? {} : { "upload-offset": offset } });
    };
    const session = { send, endpoint: "http://localhost:8090", organizationId: null };
    const { signal } = new AbortController();
    const sender = { session, signal, cacheDirectory: folder, onBytes: () => undefined };
    const file = { poolId: "1", name: "a.json", path, bytes: 3, sha256: "0".repeat(64) };
    await expect(uploadFile(sender, file)).rejects.toMatchObject({ code: "INVALID_ANSWER" });
    expect(methods).toEqual(["POST", "PATCH"]);
  },
);
