import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { createDeferred } from "@platform/engine/base/deferred";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { openPart, sendTus, uploadByClient } from "../../../../tools/tus-calls.ts";
import { hashPart } from "../pools/part-files.ts";
import { createOrganisationStore } from "../store/accounts/organisations.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createUploadStore } from "../store/pools/uploads.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { MAX_TEST_FILE } from "../testing/instance.ts";
import { codeOf, idOf, useUploads } from "../testing/upload-scene.ts";

const WRITER = "00000000-0000-4000-8000-000000000001";

/** What is done when this process looks whether it has to move a part into the store. */
let beforeMove: (hash: string) => Promise<void>;

const pace = { bytesPerSecond: MAX_TEST_FILE, behindMs: 60_000 };

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
  partPath,
  run,
  waitForWriter,
} = useUploads({
  parts: {
    patienceMs: 20,
    pace,
    limits: { perOrganisation: 2, inAll: 2, mayEnd: true },
  },
  wrapStore: (store) => ({
    ...store,
    has: async (hash) => {
      const found = await store.has(hash);
      await beforeMove(hash);
      return found;
    },
  }),
});

beforeEach(() => {
  beforeMove = async () => undefined;
  pace.behindMs = 60_000;
});

const once = (work: () => Promise<unknown>) => {
  beforeMove = async () => {
    beforeMove = async () => undefined;
    await work();
  };
};

describe("an upload that two processes store at the same time", () => {
  test("becomes its file, where the other one moves the part into the store first", async () => {
    const path = await beginUpload({ length: 2 });
    once(async () => {
      const [part = ""] = await listParts();
      const hash = await hashPart(partPath(""), part);
      await state.other.objects.take({ hash, bytes: 2, path: partPath(part) }).keep();
    });
    expect((await sendPart(path, 0, "{}")).status).toBe(204);
    expect(await readFile((await listFiles())[0]?.fileId)).toBe("{}");
  });

  test("is not ended by the one that finds no part, once the other one has taken over", async () => {
    const path = await beginUpload({ length: 2 });
    const { organisationId, userId } = state.owner;
    once(async () => {
      await state.other.stores.uploads.claim({ organisationId, userId, id: idOf(path) }, WRITER, 2);
      const [part = ""] = await listParts();
      await rm(partPath(part));
    });
    // Content that is not stored yet.
    const refused = await sendPart(path, 0, "[]");
    expect([refused.status, codeOf(refused)]).toEqual([423, "UPLOAD_LOCKED"]);
    expect(await run("select writer from pool_upload where id = $1", idOf(path))).toEqual([
      { writer: WRITER },
    ]);
  });
});

describe("while an upload is being stored", () => {
  test("requests are soon told so, it can be given up, and tus-js-client waits by itself", async () => {
    const path = await beginUpload({ length: 2 });
    const [reached, goOn] = [createDeferred<void>(), createDeferred<void>()];
    once(async () => {
      reached.resolve();
      await goOn.promise;
    });
    const stored = sendPart(path, 0, "{}");
    await reached.promise;
    for (const asked of [look(path), sendPart(path, 2, "")]) {
      const { status, headers } = await asked;
      expect([status, headers["retry-after"]]).toEqual([423, "1"]);
    }
    let refused = 0;
    const followed = uploadByClient(Buffer.from("{}"), {
      endpoint: null,
      uploadUrl: `${state.urls.here}${path}`,
      headers: auth(),
      retryDelays: [0, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560],
      onAfterResponse: (_request, response) => {
        if (response.getStatus() === 423) refused += 1;
        if (refused === 2) goOn.resolve();
      },
    });
    expect(await followed).toBe((await stored).headers["upload-file-id"]);
    expect(await listFiles()).toHaveLength(1);
  });

  test("it is given up without waiting, and becomes no file", async () => {
    const path = await beginUpload({ length: 2 });
    const [reached, goOn] = [createDeferred<void>(), createDeferred<void>()];
    once(async () => {
      reached.resolve();
      await goOn.promise;
    });
    const stored = sendPart(path, 0, "{}");
    await reached.promise;
    expect((await sendTus("DELETE", `${state.urls.here}${path}`, { headers: auth() })).status).toBe(204);
    goOn.resolve();
    expect((await stored).status).toBe(423);
    expect([await listFiles(), (await look(path)).status, await listParts()]).toEqual([[], 404, []]);
  });
});

test("an upload is stored for a token that is valid at its end", async () => {
  const { userId } = state.owner;
  const { id, token } = await state.here.identity.createPersonalAccessToken(userId, {
    name: "short-lived",
    scopes: ["admin"],
  });
  const headers = { ...auth(), authorization: `Bearer ${token}` };
  const path = await beginUpload({ length: 2 });
  const part = openPart(`${state.urls.here}${path}`, { ...headers, "upload-offset": "0" });
  part.write("{}");
  await waitForWriter(path);
  expect(await state.here.identity.revokePersonalAccessToken(userId, id)).toBe(true);
  part.end();
  expect(codeOf(await part.answer)).toBe("UNAUTHENTICATED");
  expect(await listFiles()).toEqual([]);
});

test("a request that ends before it has a part of its own leaves the upload to the one that writes elsewhere", async () => {
  const path = await beginUpload();
  const former = startPart(path, 0, state.urls.other);
  former.write("xxxxx");
  await waitForWriter(path);
  await run("create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$");
  await run(
    "create trigger refuse before update of parts on pool_upload for each row execute function refuse()",
  );
  try {
    expect((await sendPart(path, 0, "1234567890")).status).toBe(500);
  } finally {
    await run("drop trigger refuse on pool_upload");
    await run("drop function refuse");
  }
  // The next one has to know that the part may still be written to.
  expect(await run("select 1 from pool_upload where id = $1 and writer is null", idOf(path))).toEqual([]);
  expect((await sendPart(path, 0, "1234567890")).status).toBe(204);
  former.write("xxxxx");
  former.end();
  expect((await former.answer).status).toBe(423);
  expect(await readFile((await listFiles())[0]?.fileId)).toBe("1234567890");
});

test("beginning an upload and deleting its organisation wait for each other in one order", async () => {
  const { owner, here, home } = state;
  const organisationId = await here.identity.createOrganisation(owner.userId, { name: "Short-lived" });
  const wanted = { organisationId, name: "Maps", description: "", createdBy: owner.userId };
  const pool = await here.stores.dataPools.create(wanted);
  if (pool === "name taken") throw new Error("The name is taken.");
  // A deadlock is an error here, and not tried again.
  const database = home.connect({ retryMilliseconds: 0 });
  const upload = { organisationId, userId: owner.userId, poolId: pool.id, place: WRITER };
  const head = { name: "a", mediaType: "text/plain", metadata: "", bytes: 1, sha256: null };
  const lock = { text: "select 1 from data_pool where id = $1 for update", values: [pool.id] };
  const [begun, deleted] = await startAtOnce<unknown>(home, lock, () => {
    const beginning = createUploadStore(database, 10).create({ ...upload, ...head });
    const deleting = waitUntil(async () => {
      const waiting = await home.database.query({
        text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      });
      return waiting.length === 1;
    }).then(() => createOrganisationStore(database).delete(organisationId, owner.userId));
    return [beginning, deleting];
  });
  expect([begun, deleted]).toEqual([expect.objectContaining({ poolId: pool.id }), "deleted"]);
  expect(await run("select 1 from pool_upload where organisation_id = $1", organisationId)).toEqual([]);
});

describe("the places of parts", () => {
  test("are left by a sender that is too slow: what it has sent counts", async () => {
    pace.behindMs = 500;
    const path = await beginUpload();
    const part = startPart(path, 0);
    part.write("12345");
    const refused = await part.answer;
    expect([refused.status, codeOf(refused), refused.headers["retry-after"]]).toEqual([
      503,
      "UNAVAILABLE",
      "1",
    ]);
    part.destroy();
    pace.behindMs = 60_000;
    expect(await offsetOf(path)).toBe(5);
    expect((await sendPart(path, 5, "67890")).status).toBe(204);
  });

  test("are shared: an organisation that has none gets one of the organisation that has all", async () => {
    const paths = [await beginUpload(), await beginUpload()];
    const parts = [];
    for (const path of paths) {
      const part = startPart(path, 0);
      part.write("1");
      await waitForWriter(path);
      parts.push(part);
    }
    const guest = await createTestUser(state.here);
    const created = await state.here.api.inject({
      method: "POST",
      url: "/api/data-pools",
      headers: { authorization: `Bearer ${guest.token}`, "content-type": "application/json" },
      payload: JSON.stringify({ name: "Theirs" }),
    });
    const headers = { authorization: `Bearer ${guest.token}`, "x-organizationid": guest.organisationId };
    const dataPoolId = created.json<{ id: string }>().id;
    const begun = await begin({ headers, metadata: { dataPoolId } });
    const sent = await sendPart(begun.headers.location ?? "", 0, "1234567890", headers);
    expect(sent.status).toBe(204);
    const [first = "", second = ""] = paths;
    const ended = await parts[0]?.answer;
    expect([ended?.status, codeOf(ended ?? sent)]).toEqual([503, "UNAVAILABLE"]);
    expect(await offsetOf(first)).toBe(1);
    parts[1]?.write("234567890");
    parts[1]?.end();
    expect((await parts[1]?.answer)?.status).toBe(204);
    expect((await look(second)).headers["upload-file-id"]).toBeDefined();
    parts[0]?.destroy();
  });
});

test("who has been taken over stores no file, though all has come: the row is asked in the transaction of the file", async () => {
  const path = await beginUpload({ length: 2 });
  await sendPart(path, 0, "{");
  const { uploads, poolFiles } = state.here.stores;
  const { organisationId, userId } = state.owner;
  const key = { organisationId, userId, id: idOf(path) };
  const [former, next] = [randomUUID(), randomUUID()];
  for (const writer of [former, next]) expect(await uploads.claim(key, writer, 1)).not.toBeNull();
  const hash = "a".repeat(64);
  await createObjectRows(state.here.database, 30).note({ hash, bytes: 2 });
  const file = {
    organisationId,
    poolId: state.pool.id,
    createdBy: userId,
    name: "map.json",
    mediaType: "",
    hash,
  };
  const put = (writer: string) =>
    poolFiles.put({ ...file, bytes: 2, mayReplace: true, upload: { id: key.id, writer } });
  expect(await put(former)).toBe("taken over");
  expect([await listFiles(), (await uploads.find(key))?.isStored]).toEqual([[], false]);
  expect(await put(next)).toMatchObject({ hash });
  expect((await uploads.find(key))?.isStored).toBe(true);
});

test("a part of who was disabled while it came stores no file", async () => {
  const by = await createTestMember(state.here, state.owner.organisationId, "owner");
  const path = (await begin({ length: 2, by })).headers.location ?? "";
  const part = openPart(`${state.urls.here}${path}`, { ...auth(by), "upload-offset": "0" });
  part.write("{");
  await waitForWriter(path);
  await run("update platform_user set disabled_at = now() where id = $1", by.userId);
  // Drops what is known of tokens, which is for some seconds.
  await state.here.identity.revokePersonalAccessToken(by.userId, randomUUID());
  part.write("}");
  part.end();
  expect(codeOf(await part.answer)).toBe("UNAUTHENTICATED");
  expect(await listFiles()).toEqual([]);
});
