import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PART_TYPE, openPart, sendTus } from "../../../../tools/tus-calls.ts";
import { PARTS } from "../pools/part-files.ts";
import { createGarbageStore } from "../store/garbage.ts";
import { createTestMember } from "../testing/fixtures.ts";
import { MAX_TEST_FILE } from "../testing/instance.ts";
import { codeOf, idOf, useUploads } from "../testing/upload-scene.ts";

const {
  state,
  auth,
  begin,
  beginUpload,
  look,
  offsetOf,
  sendPart,
  startPart,
  listFiles,
  readFile,
  listParts,
  run,
  waitForWriter,
  waitForNoWriter,
} = useUploads();

describe("a part", () => {
  test("begins where the upload stands, and has not more than is missing", async () => {
    const path = await beginUpload();
    for (const offset of [1, 11]) {
      const refused = await sendPart(path, offset, "x");
      expect([refused.status, refused.headers["upload-offset"]]).toEqual([409, "0"]);
    }
    expect(codeOf(await sendPart(path, 0, "12345678901", { "content-length": "11" }))).toBe("FILE_TOO_LARGE");
    expect(codeOf(await sendPart(path, 0, "x".repeat(11)))).toBe("FILE_TOO_LARGE");
    const unsaid = startPart(path, 0);
    unsaid.write("x".repeat(11));
    unsaid.end();
    expect(codeOf(await unsaid.answer)).toBe("FILE_TOO_LARGE");
    for (const offset of ["", "-1", "0x1"])
      expect(codeOf(await sendPart(path, 0, "x", { "upload-offset": offset }))).toBe("INVALID_INPUT");
    expect(codeOf(await sendPart(path, 0, "x", { "content-type": "text/plain" }))).toBe(
      "UNSUPPORTED_MEDIA_TYPE",
    );
    expect(await offsetOf(path)).toBe(0);
    expect((await sendPart(path, 0, "1234567890")).status).toBe(204);
    expect(await readFile((await listFiles())[0]?.fileId)).toBe("1234567890");
  });

  test.each(["sha1", "sha256"])("has the %s that it is sent with, or does not count", async (algorithm) => {
    const path = await beginUpload();
    const sum = (content: string) => ({
      "upload-checksum": `${algorithm} ${createHash(algorithm).update(content).digest("base64")}`,
    });
    const damaged = await sendPart(path, 0, "12345", sum("12346"));
    expect([damaged.status, codeOf(damaged), await offsetOf(path)]).toEqual([
      460,
      "UPLOAD_CHECKSUM_MISMATCH",
      0,
    ]);
    expect((await sendPart(path, 0, "12345", sum("12345"))).headers["upload-offset"]).toBe("5");
    const broken = openPart(`${state.urls.here}${path}`, {
      ...auth(),
      "upload-offset": "5",
      ...sum("67890"),
    });
    broken.write("678");
    await waitForWriter(path);
    broken.destroy();
    await waitForNoWriter(path);
    expect(await offsetOf(path)).toBe(5);
    expect((await sendPart(path, 5, "67890", sum("67890"))).status).toBe(204);
    expect(await readFile((await listFiles())[0]?.fileId)).toBe("1234567890");
  });

  test.each(["md5 1B2M2Y8AsgTpgAmy7PhCfg==", "sha256 abc", "sha256", "sha1 a b"])(
    "with the sum %j is refused",
    async (sum) => {
      const path = await beginUpload();
      expect(codeOf(await sendPart(path, 0, "x", { "upload-checksum": sum }))).toBe("INVALID_INPUT");
    },
  );

  test("is received as far as it came when its connection breaks, and lets the next one begin", async () => {
    const path = await beginUpload();
    // What the connection still held when it broke is lost: then the byte is sent again.
    for (let offset = 0; offset < 9; offset = await offsetOf(path)) {
      const part = startPart(path, offset);
      part.write(String(offset));
      await waitForWriter(path);
      part.destroy();
      await waitForNoWriter(path);
      expect([offset, offset + 1]).toContain(await offsetOf(path));
    }
    expect((await sendPart(path, 9, "9")).status).toBe(204);
    expect(await readFile((await listFiles())[0]?.fileId)).toBe("0123456789");
  });

  test.each(["here", "other"] as const)(
    "that stands still is ended by a newer one, in this process or another (%s), and nothing of it counts",
    async (place) => {
      const path = await beginUpload();
      const former = startPart(path, 0, state.urls[place]);
      former.write("xxxxx");
      await waitForWriter(path);
      const next = startPart(path, 0);
      next.write("12345");
      next.write("67890");
      next.end();
      expect((await next.answer).status).toBe(204);
      former.write("xxxxx");
      former.end();
      expect((await former.answer).status).toBe(423);
      const files = await listFiles();
      expect([files.length, await readFile(files[0]?.fileId)]).toEqual([1, "1234567890"]);
      expect(await listParts()).toEqual([]);
    },
  );

  test("of two at once wins, however they are mixed", async () => {
    for (let round = 0; round < 10; round++) {
      const path = await beginUpload({ metadata: { filename: `${round}` } });
      const [one, two] = ["1111111111", "2222222222"];
      const answers = await Promise.all([
        sendPart(path, 0, one),
        sendTus("PATCH", `${state.urls.other}${path}`, {
          headers: { ...auth(), "content-type": PART_TYPE, "upload-offset": "0" },
          content: two,
        }),
      ]);
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
      expect([409, 423]).toContain(answers.find(({ status }) => status !== 204)?.status);
      const file = (await listFiles()).find(({ name }) => name === String(round));
      expect(await readFile(file?.fileId)).toBe(answers[0]?.status === 204 ? one : two);
    }
  });

  test("that was written by a process that was killed is followed by one of the next process", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "123");
    // What a killed process leaves: it had written more than it could say.
    await run("update pool_upload set writer = gen_random_uuid() where id = $1", idOf(path));
    expect((await sendPart(path, 3, "4567")).headers["upload-offset"]).toBe("7");
    expect(await listParts()).toHaveLength(2);
    expect((await sendPart(path, 7, "890")).status).toBe(204);
    expect(await readFile((await listFiles())[0]?.fileId)).toBe("1234567890");
    expect(await listParts()).toEqual([]);
  });

  test("is the last one although the file could not be stored then: asking stores it", async () => {
    const path = await beginUpload({ length: 2 });
    await run(
      "create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$",
    );
    await run("create trigger refuse before insert on pool_file for each row execute function refuse()");
    try {
      expect((await sendPart(path, 0, "{}")).status).toBe(500);
    } finally {
      await run("drop trigger refuse on pool_file");
      await run("drop function refuse");
    }
    expect(await listFiles()).toEqual([]);
    const { status, headers } = await look(path);
    expect([status, headers["upload-offset"]]).toEqual([200, "2"]);
    expect(await listFiles()).toMatchObject([{ fileId: headers["upload-file-id"] }]);
    expect(await readFile(String(headers["upload-file-id"]))).toBe("{}");
  });

  test("whose part of the disk was lost is not made up: the upload is over", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "12345");
    for (const name of await listParts()) await rm(join(state.directory, "objects", PARTS, name));
    expect((await sendPart(path, 5, "67890")).status).toBe(410);
    expect((await look(path)).status).toBe(404);
  });

  test("that lies on another machine is left alone: 503 for it, 423 for a HEAD that would have to store the file", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "12345");
    const setPlace = async (place: string) => {
      const [row] = await state.home.database.query<{ readonly former: string }>({
        text: "update pool_upload u set place = $2 from pool_upload f where u.id = $1 and f.id = u.id returning f.place as former",
        values: [idOf(path), place],
      });
      return row?.former ?? "";
    };
    const place = await setPlace("00000000-0000-4000-8000-000000000000");
    expect((await sendPart(path, 5, "67890")).status).toBe(503);
    expect(await offsetOf(path)).toBe(5);
    await run("update pool_upload set received = 10 where id = $1", idOf(path));
    expect((await look(path)).status).toBe(423);
    await run("update pool_upload set received = 5 where id = $1", idOf(path));
    await setPlace(place);
    expect((await sendPart(path, 5, "67890")).status).toBe(204);
  });

  test("waits for space on the disk, and does not take the upload back", async () => {
    const path = await beginUpload();
    state.isDiskLow = true;
    const refused = await sendPart(path, 0, "12345");
    expect([refused.status, codeOf(refused)]).toEqual([503, "UNAVAILABLE"]);
    expect((await begin()).status).toBe(503);
    state.isDiskLow = false;
    expect((await sendPart(path, 0, "1234567890")).status).toBe(204);
  });

  test("is written to the audit log once, as the file that it became", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "12345");
    await sendPart(path, 5, "67890");
    await look(path);
    const rows = await run(
      "select action, outcome from audit_entry where organisation_id = $1 and action like 'pool-file%'",
      state.owner.organisationId,
    );
    expect(rows).toEqual([{ action: "pool-file.create", outcome: "done" }]);
  });

  test("frees its place however it ended: more than run at once can break off one after the other", async () => {
    const path = await beginUpload();
    for (let count = 0; count < 40; count++) {
      const part = startPart(path, 0);
      part.destroy();
      await part.answer.catch(() => undefined);
    }
    expect((await sendPart(path, 0, "1234567890")).status).toBe(204);
  });
});

test("an upload of a user who was disabled is given up by housekeeping, and what others have begun or it has stored stays", async () => {
  const { organisationId } = state.owner;
  const by = await createTestMember(state.here, organisationId, "owner");
  const stored = (await begin({ length: 0, by, metadata: { filename: "empty" } })).headers.location ?? "";
  await begin({ length: MAX_TEST_FILE, by });
  const own = await beginUpload();
  await run("update platform_user set disabled_at = now() where id = $1", by.userId);
  const garbage = createGarbageStore(state.here.database, 30);
  expect(await garbage.removeOldUploads()).toBe(1);
  const left = await run("select id from pool_upload where organisation_id = $1 order by id", organisationId);
  expect(left).toEqual([stored, own].map((path) => ({ id: idOf(path) })));
});
