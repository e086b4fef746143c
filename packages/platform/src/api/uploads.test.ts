import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PART_TYPE, openPart, sendTus, uploadByClient } from "../../../../tools/tus-calls.ts";
import { PARTS, sweepParts } from "../pools/part-files.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { MAX_TEST_FILE, TEST_POOL_BYTES } from "../testing/instance.ts";
import { codeOf, idOf, useUploads } from "../testing/upload-scene.ts";

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

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
} = useUploads();

const options = () => ({
  endpoint: `${state.urls.here}/api/uploads`,
  headers: auth(),
  metadata: { dataPoolId: state.pool.id, filename: "map.json", filetype: "application/json" },
  retryDelays: null,
});

const key = () => ({ poolId: state.pool.id, organisationId: state.owner.organisationId });

async function createPool({ organisationId, userId: createdBy }: TestUser): Promise<string> {
  const wanted = { organisationId, name: "Other maps", description: "", createdBy };
  const pool = await state.here.stores.dataPools.create(wanted);
  if (pool === "name taken") throw new Error("The name is taken.");
  return pool.id;
}

const sweep = (now?: number) =>
  sweepParts(join(state.directory, "objects", PARTS), state.here.stores.uploads, now);

describe("tus-js-client", () => {
  test.each([
    ["in one part", {}],
    ["in parts of 30,000 bytes", { chunkSize: 30_000 }],
    ["with the first part in the creation", { uploadDataDuringCreation: true, chunkSize: 60_000 }],
    ["by POST where PATCH cannot be sent", { overridePatchMethod: true }],
  ])("stores a file %s", async (_how, more) => {
    const content = randomBytes(MAX_TEST_FILE);
    const fileId = await uploadByClient(content, { ...options(), ...more });
    const [file] = await listFiles();
    expect(file).toMatchObject({
      fileId,
      name: "map.json",
      type: "application/json",
      bytes: MAX_TEST_FILE,
      sha256: sha256(content),
      createdBy: "Somebody",
    });
    expect(await listParts()).toEqual([]);
  });

  test("stores a file of no bytes", async () => {
    const fileId = await uploadByClient(Buffer.alloc(0), options());
    expect(await listFiles()).toMatchObject([{ fileId, bytes: 0 }]);
  });

  test("goes on where a broken connection ended, with an instance that knows only the address", async () => {
    const content = randomBytes(50_000);
    const path = await beginUpload({ length: content.length });
    const part = startPart(path, 0);
    part.write(content.subarray(0, 20_000));
    await waitForWriter(path);
    part.destroy();
    const uploadUrl = `${state.urls.here}${path}`;
    const fileId = await uploadByClient(content, {
      ...options(),
      endpoint: null,
      uploadUrl,
      retryDelays: [0, 0, 100, 1000],
    });
    expect(await listFiles()).toMatchObject([{ fileId, sha256: sha256(content) }]);
  });

  test("hears that a whole file was stored when the last answer was lost", async () => {
    const path = await beginUpload({ length: 2 });
    const stored = await sendPart(path, 0, "{}");
    const uploadUrl = `${state.urls.here}${path}`;
    const fileId = await uploadByClient(Buffer.from("{}"), { ...options(), endpoint: null, uploadUrl });
    expect(fileId).toBe(stored.headers["upload-file-id"]);
    expect(await listFiles()).toHaveLength(1);
  });

  test("gives an upload up, and nothing of it is left", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "12345");
    expect(await listParts()).toHaveLength(1);
    const { Upload } = await import("tus-js-client");
    await Upload.terminate(`${state.urls.here}${path}`, { headers: auth(), retryDelays: [] });
    expect(await listParts()).toEqual([]);
    expect((await look(path)).status).toBe(404);
  });
});

describe("an upload", () => {
  test("says what is supported to everybody, and asks for the version of the protocol", async () => {
    const said = await sendTus("OPTIONS", `${state.urls.here}/api/uploads`);
    expect(said).toMatchObject({
      status: 204,
      headers: {
        "tus-resumable": "1.0.0",
        "tus-version": "1.0.0",
        "tus-extension": "creation,creation-with-upload,checksum,termination,expiration",
        "tus-checksum-algorithm": "sha1,sha256",
        "tus-max-size": String(MAX_TEST_FILE),
      },
    });
    const former = await begin({ headers: { "tus-resumable": "0.2.2" } });
    expect([former.status, former.headers["tus-version"]]).toEqual([412, "1.0.0"]);
  });

  test("is begun with the time at which it expires, and a HEAD says where it stands", async () => {
    const path = await beginUpload({ length: 10 });
    const { status, headers } = await look(path);
    expect([status, headers]).toEqual([
      200,
      expect.objectContaining({
        "upload-offset": "0",
        "upload-length": "10",
        "cache-control": "no-store",
        "tus-resumable": "1.0.0",
        "upload-metadata": expect.stringContaining("filename bWFwLmpzb24="),
      }),
    ]);
    const expires = Date.parse(String(headers["upload-expires"])) - Date.now();
    expect(expires).toBeGreaterThan(23 * 3_600_000);
    expect(expires).toBeLessThan(25 * 3_600_000);
  });

  test.each([
    ["no length", { headers: { "upload-length": "" } }, "INVALID_INPUT"],
    ["a negative length", { length: -1 }, "INVALID_INPUT"],
    ["a length that is no number", { length: "1e3" }, "INVALID_INPUT"],
    ["a length to come", { headers: { "upload-defer-length": "1" } }, "INVALID_INPUT"],
    ["one byte too many", { length: MAX_TEST_FILE + 1 }, "FILE_TOO_LARGE"],
    ["a length beyond all numbers", { length: "9".repeat(30) }, "INVALID_INPUT"],
    ["a part of another upload", { headers: { "upload-concat": "partial" } }, "INVALID_INPUT"],
    ["a folder in its name", { metadata: { filename: "a/b" } }, "INVALID_INPUT"],
    ["a null character in its name", { metadata: { filename: "a\0b" } }, "INVALID_INPUT"],
    ["a long name", { metadata: { filename: "x".repeat(300) } }, "INVALID_INPUT"],
    ["a name that turns its direction", { metadata: { filename: "\u202egpj.exe" } }, "INVALID_INPUT"],
    ["no name", { metadata: { filename: "" } }, "INVALID_INPUT"],
    ["a digest that is none", { metadata: { sha256: "abc" } }, "INVALID_INPUT"],
    ["metadata that are no base64", { headers: { "upload-metadata": "filename %%%" } }, "INVALID_INPUT"],
    ["a lot of metadata", { metadata: { note: "x".repeat(4_000) } }, "INVALID_INPUT"],
    ["an unknown pool", { metadata: { dataPoolId: "00000000-0000-4000-8000-000000000000" } }, "NOT_FOUND"],
    ["a pool that is no id", { metadata: { dataPoolId: "../.." } }, "NOT_FOUND"],
    ["another type of part", { headers: { "content-type": "application/json" } }, "UNSUPPORTED_MEDIA_TYPE"],
  ] as const)("is refused with %s, and nothing stays", async (_what, given, code) => {
    const refused = await begin(given);
    expect([codeOf(refused), refused.headers.location]).toEqual([code, undefined]);
    expect(
      await run("select 1 from pool_upload where organisation_id = $1", state.owner.organisationId),
    ).toEqual([]);
  });

  test("promises its length: of what would not fit beside it, nothing begins, and no file is put", async () => {
    for (let count = 0; count < TEST_POOL_BYTES / MAX_TEST_FILE; count++)
      await beginUpload({ length: MAX_TEST_FILE });
    expect(codeOf(await begin({ length: 1 }))).toBe("QUOTA_EXCEEDED");
    const put = await state.here.api.inject({
      method: "PUT",
      url: `/api/data-pools/${state.pool.id}/files/a`,
      headers: auth(),
      payload: "x",
    });
    expect(put.json().code).toBe("QUOTA_EXCEEDED");
    await run(
      "update pool_upload set expires_at = now() where organisation_id = $1",
      state.owner.organisationId,
    );
    await beginUpload({ length: 1 });
  });

  test("fits into the last of the quota: its promise is not counted beside its file", async () => {
    const path = await beginUpload({ length: MAX_TEST_FILE });
    for (let count = 1; count < TEST_POOL_BYTES / MAX_TEST_FILE; count++)
      await beginUpload({ length: MAX_TEST_FILE, metadata: { filename: `${count}` } });
    expect((await sendPart(path, 0, Buffer.alloc(MAX_TEST_FILE))).status).toBe(204);
  });

  test("of others is as one that there is not, also of another member and for all requests", async () => {
    const path = await beginUpload();
    const stranger = await createTestUser(state.here);
    const colleague = await createTestMember(state.here, state.owner.organisationId, "maintainer");
    const unknown = "/api/uploads/00000000-0000-7000-8000-000000000000";
    for (const headers of [{ authorization: `Bearer ${stranger.token}` }, auth(colleague)])
      for (const method of ["HEAD", "PATCH", "DELETE"]) {
        const ask = (at: string) =>
          sendTus(method, `${state.urls.here}${at}`, {
            headers: {
              ...headers,
              ...(method === "PATCH" && { "content-type": PART_TYPE, "upload-offset": "0" }),
            },
          });
        const [foreign, none] = [await ask(path), await ask(unknown)];
        expect([foreign.status, foreign.body]).toEqual([404, none.body]);
      }
    expect(await offsetOf(path)).toBe(0);
  });

  test("goes into a pool that is shared with the maintainers of another organisation, and counts for its owner", async () => {
    const guest = await createTestUser(state.here);
    const share = { poolId: state.pool.id, organisationId: state.owner.organisationId };
    const setRole = (role: "viewer" | "maintainer") =>
      state.here.stores.poolShares.put(share, {
        organisationId: guest.organisationId,
        role,
        createdBy: state.owner.userId,
      });
    const asGuest = {
      headers: { authorization: `Bearer ${guest.token}`, "x-organizationid": guest.organisationId },
    };
    expect(codeOf(await begin(asGuest))).toBe("NOT_FOUND");
    await setRole("viewer");
    expect(codeOf(await begin(asGuest))).toBe("FORBIDDEN");
    await setRole("maintainer");
    const path = await beginUpload({ ...asGuest, length: MAX_TEST_FILE });
    for (let count = 1; count < TEST_POOL_BYTES / MAX_TEST_FILE; count++)
      await beginUpload({ length: MAX_TEST_FILE });
    expect(codeOf(await begin({ length: 1 }))).toBe("QUOTA_EXCEEDED");
    const part = { ...asGuest.headers, "content-type": PART_TYPE, "upload-offset": "0" };
    const sent = await sendTus("PATCH", `${state.urls.here}${path}`, {
      headers: part,
      content: Buffer.alloc(MAX_TEST_FILE),
    });
    expect([sent.status, (await listFiles())[0]?.fileId]).toEqual([204, sent.headers["upload-file-id"]]);
    expect(codeOf(await begin({ ...asGuest, length: 1 }))).toBe("QUOTA_EXCEEDED");
  });

  test.each([
    ["the share is withdrawn", (guest: string) => state.here.stores.poolShares.delete(key(), guest)],
    [
      "the share becomes one as viewer",
      (organisationId: string) =>
        state.here.stores.poolShares.put(key(), {
          organisationId,
          role: "viewer",
          createdBy: state.owner.userId,
        }),
    ],
    [
      "the pool is deleted",
      () => state.here.stores.dataPools.delete(state.owner.organisationId, state.pool.id),
    ],
  ])("of another organisation is over, and counts for the owner no more, once %s", async (what, end) => {
    const guest = await createTestUser(state.here);
    const { organisationId } = guest;
    const createdBy = state.owner.userId;
    await state.here.stores.poolShares.put(key(), { organisationId, role: "maintainer", createdBy });
    const headers = { authorization: `Bearer ${guest.token}`, "x-organizationid": organisationId };
    const theirs = await beginUpload({ headers, length: MAX_TEST_FILE });
    expect((await sendPart(theirs, 0, "1", headers)).status).toBe(204);
    const own = await beginUpload({ length: 1 });
    const mine = await createPool(guest);
    const elsewhere = await beginUpload({ headers, length: 2, metadata: { dataPoolId: mine } });
    await end(organisationId);
    const refused = await sendPart(theirs, 1, "2", headers);
    expect([refused.status, codeOf(refused)]).toEqual([404, "NOT_FOUND"]);
    expect(await sweep(Date.now() + 2 * 3_600_000)).toBe(1);
    const metadata = { dataPoolId: await createPool(state.owner) };
    for (let count = 1; count < TEST_POOL_BYTES / MAX_TEST_FILE; count++)
      await beginUpload({ length: MAX_TEST_FILE, metadata });
    await beginUpload({ length: MAX_TEST_FILE - 1, metadata });
    expect((await sendPart(own, 0, "1")).status).toBe(what === "the pool is deleted" ? 404 : 204);
    expect((await sendPart(elsewhere, 0, "12", headers)).status).toBe(204);
  });

  test("is over once its organisation is deleted, or the one of its pool", async () => {
    const { identity, stores } = state.here;
    const guest = await createTestUser(state.here);
    const organisationId = await identity.createOrganisation(guest.userId, { name: "Short-lived" });
    const theirs = { ...guest, organisationId };
    const dataPoolId = await createPool(theirs);
    const headers = { authorization: `Bearer ${guest.token}`, "x-organizationid": organisationId };
    const createdBy = guest.userId;
    await stores.poolShares.put(key(), { organisationId, role: "maintainer", createdBy });
    await stores.poolShares.put(
      { poolId: dataPoolId, organisationId },
      { organisationId: state.owner.organisationId, role: "maintainer", createdBy },
    );
    await beginUpload({ headers, length: MAX_TEST_FILE });
    const foreign = await beginUpload({ metadata: { dataPoolId } });
    const own = await beginUpload({ length: 1 });
    await identity.deleteOrganisation(organisationId, guest.userId);
    const open = "select id from pool_upload where owner_id = any($1::uuid[]) and stored_at is null";
    expect(await run(open, [organisationId, state.owner.organisationId])).toEqual([{ id: idOf(own) }]);
    expect((await sendPart(foreign, 0, "1")).status).toBe(404);
  });

  test("is for maintainers, also at its end", async () => {
    const viewer = await createTestMember(state.here, state.owner.organisationId, "viewer");
    expect(codeOf(await begin({ by: viewer }))).toBe("FORBIDDEN");
    const maintainer = await createTestMember(state.here, state.owner.organisationId, "maintainer");
    const path = (await begin({ length: 2, by: maintainer })).headers.location ?? "";
    const part = openPart(`${state.urls.here}${path}`, { ...auth(maintainer), "upload-offset": "0" });
    part.write("{}");
    await waitForWriter(path);
    await state.here.identity.changeRole({
      organisationId: state.owner.organisationId,
      userId: maintainer.userId,
      role: "viewer",
      by: state.owner.userId,
    });
    part.end();
    // It has ended with the right; what is asked next is refused.
    expect((await part.answer).status).toBe(423);
    expect(codeOf(await sendPart(path, 0, "{}", auth(maintainer)))).toBe("FORBIDDEN");
    expect(await listFiles()).toEqual([]);
  });

  test.each([
    ["may only read any more", "viewer"],
    ["is no member any more", null],
    ["may still change things", "maintainer"],
  ] as const)(
    "of a user who %s ends with that right, and counts for the organisation no more",
    async (_who, role) => {
      const { organisationId } = state.owner;
      const by = await createTestMember(state.here, organisationId, "owner");
      const path = (await begin({ length: MAX_TEST_FILE, by })).headers.location ?? "";
      const change = { organisationId, userId: by.userId, by: state.owner.userId };
      if (role === null) await state.here.identity.removeMember(change);
      else await state.here.identity.changeRole({ ...change, role });
      const open = await run(
        "select id from pool_upload where owner_id = $1 and stored_at is null",
        organisationId,
      );
      expect(open).toEqual(role === "maintainer" ? [{ id: idOf(path) }] : []);
    },
  );

  test("takes the place of a file that was stored meanwhile, and finds no pool that was deleted", async () => {
    const [path, next] = [await beginUpload({ length: 2 }), await beginUpload({ length: 2 })];
    await sendPart(path, 0, "{}");
    const [former] = await listFiles();
    await sendPart(next, 0, "[]");
    const [file, ...others] = await listFiles();
    expect([file?.dataSourceDescriptorId, others]).toEqual([former?.dataSourceDescriptorId, []]);
    expect(await readFile(file?.fileId)).toBe("[]");
    const late = await beginUpload({ length: 2 });
    await state.here.api.inject({
      method: "DELETE",
      url: `/api/data-pools/${state.pool.id}`,
      headers: auth(),
    });
    expect(codeOf(await sendPart(late, 0, "{}"))).toBe("NOT_FOUND");
    expect([(await look(late)).status, await listParts()]).toEqual([404, []]);
  });

  test("has the whole content that its metadata say, or becomes no file", async () => {
    const path = await beginUpload({ length: 2, metadata: { sha256: sha256("{}").toUpperCase() } });
    expect((await sendPart(path, 0, "{}")).status).toBe(204);
    const wrong = await beginUpload({ length: 2, metadata: { sha256: sha256("{}"), filename: "wrong" } });
    expect(codeOf(await sendPart(wrong, 0, "[]"))).toBe("CHECKSUM_MISMATCH");
    expect(await listFiles()).toHaveLength(1);
    expect([(await look(wrong)).status, await listParts()]).toEqual([404, []]);
  });

  test("expires: 410, no promise any more, and its part is swept", async () => {
    const path = await beginUpload();
    await sendPart(path, 0, "12345");
    const later = Date.now() + 2 * 3_600_000;
    expect(await sweep(later)).toBe(0);
    await run("update pool_upload set expires_at = now() where id = $1", idOf(path));
    expect(await sweep()).toBe(0);
    expect([await sweep(later), await listParts()]).toEqual([1, []]);
    expect(codeOf(await sendPart(path, 5, "67890"))).toBe("UPLOAD_EXPIRED");
    expect((await look(path)).status).toBe(410);
  });
});
