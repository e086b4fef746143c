import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchDisk } from "../disk/disk-guard.ts";
import { guardBuilds } from "../disk/guarded-stores.ts";
import { PROGRAM, openBuildScene, returning } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import { createTestMember } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createRecordingLogger } from "../testing/test-database.ts";

/** A backend that asks elsewhere, as an adapter asks its vendor, how many qubits its device has. */
const ASKING = `${PROGRAM}
import os

def describe():
    configuration = {
        "qubit_count": int(os.environ["QUBITS"]),
        "shots_range": {"min": 1, "max": 10},
        "max_pubs_per_job": 1,
        "supported_input_formats": ["OPEN_QASM_V3"],
        "memory_result_supported": False,
    }
    return {"type": "QPU", "display_name": "A device", "configuration": configuration}
`;

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

describe("an upload", () => {
  test("of a backend of hardware is built anew, also where nothing of it has changed: its device may have", async () => {
    const { organisationId, userId } = scene.owner;
    const scope = { organisationId, serviceKey: null };
    const set = async (value: string) =>
      await scene.instance.stores.variables.put(scope, "QUBITS", { kind: "variable", value, by: userId });
    const build = async (id: string, external: boolean, status: number) => {
      const { key, name } = await scene.createService();
      const archive = await scene.pack(name, ASKING, { backend: { id, external } });
      await set("5");
      await scene.deploy(key, archive);
      await set("7");
      const { statusCode, body } = await scene.upload(key, archive);
      expect(statusCode).toBe(status);
      await scene.buildAll(key, (JSON.parse(body) as { version: string }).version);
      const found = await scene.instance.stores.backends.find(organisationId, id);
      return found?.description.configuration.qubit_count;
    };
    expect(await build("qpu.asked", true, 201)).toBe(7);
    expect(await build("sim.asked", false, 200)).toBe(5);
  });

  describe("is refused at the door", () => {
    test("for what is no archive, an empty body, another type", async () => {
      const { key } = await scene.createService();
      expect((await scene.upload(key, Buffer.from("no zip"))).json()).toMatchObject({
        code: "INVALID_ARCHIVE",
      });
      const json = await scene.instance.api.inject({
        method: "POST",
        url: `/api/services/${key}/versions`,
        headers: { authorization: `Bearer ${scene.owner.token}`, "content-type": "application/json" },
        payload: "{}",
      });
      expect(json.json()).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
      expect((await scene.upload(key, Buffer.alloc(0))).json()).toMatchObject({ code: "INVALID_ARCHIVE" });
    });

    test("for a project of another name", async () => {
      const { key } = await scene.createService();
      const response = await scene.upload(key, await scene.pack("another-name"));
      expect(response.json()).toMatchObject({ code: "INVALID_PROJECT", errors: [{ path: "/name" }] });
    });

    test("and leaves nothing behind: no object, no unpacked folder, for another name, damage or unchanged content", async () => {
      const { key, name } = await scene.createService();
      const live = await scene.pack(name, returning(1));
      await scene.deploy(key, live);
      const before = await scene.listStored();
      expect((await scene.upload(key, await scene.pack("another-name"))).statusCode).toBe(400);
      expect((await scene.upload(key, live)).statusCode).toBe(200);
      const damaged = Buffer.from(await scene.pack(name, returning(2)));
      damaged.writeUInt8(damaged.readUInt8(60) ^ 0xff, 60);
      expect((await scene.upload(key, damaged)).statusCode).toBe(400);
      expect(
        (await scene.upload(key, await scene.pack(name, returning(3)), "?version=1.0.0")).statusCode,
      ).toBe(409);
      expect(await scene.listStored()).toEqual(before);
    });

    test("for a member who is demoted after the last look at their role", async () => {
      const { key, name } = await scene.createService();
      const { organisationId } = scene.owner;
      const former = await createTestMember(scene.instance, organisationId, "maintainer");
      const headers = {
        authorization: `Bearer ${former.token}`,
        "x-organizationid": organisationId,
        "content-type": "application/zip",
      };
      const url = `/api/services/${key}`;
      expect((await scene.instance.api.inject({ url, headers })).statusCode).toBe(200);
      const payload = await scene.pack(name);
      const demotion = {
        text: "update member set role = 'viewer' where organisation_id = $1 and user_id = $2",
        values: [organisationId, former.userId],
      };
      const [response] = await startAtOnce(scene.home, demotion, () => [
        scene.instance.api.inject({ method: "POST", url: `${url}/versions`, headers, payload }),
      ]);
      expect([response?.statusCode, response?.json().code]).toEqual([403, "FORBIDDEN"]);
      expect(
        (await scene.instance.api.inject({ url: `${url}/versions/1.0.0/build`, headers })).statusCode,
      ).toBe(404);
    });

    test("for an organisation that is deleted after the last look at it: no quota would count the version", async () => {
      const { owner, instance } = scene;
      const organisationId = await instance.identity.createOrganisation(owner.userId, { name: "Brief" });
      const name = "brief";
      const { key } = await instance.stores.services.create({ organisationId, name, description: "" });
      const headers = {
        authorization: `Bearer ${owner.token}`,
        "x-organizationid": organisationId,
        "content-type": "application/zip",
      };
      const payload = await scene.pack(name);
      const deletion = {
        text: `with held as (select id from organisation where id = $1 for update)
          update organisation o set deleted_at = now() from held where o.id = held.id`,
        values: [organisationId],
      };
      const [response] = await startAtOnce(scene.home, deletion, () => [
        instance.api.inject({ method: "POST", url: `/api/services/${key}/versions`, headers, payload }),
      ]);
      expect([response?.statusCode, response?.json().code]).toEqual([403, "FORBIDDEN"]);
      const made = { text: "select 1 from build where service_key = $1", values: [key] };
      expect(await scene.home.database.query(made)).toEqual([]);
    });

    test("while equal content is just being removed, with 503; when that is over it is taken", async () => {
      const { key, name } = await scene.createService();
      const archive = await scene.pack(name, returning(7));
      await scene.home.database.query({
        text: "insert into object (hash, removing_until) values ($1, now() + interval '1 minute')",
        values: [createHash("sha256").update(archive).digest("hex")],
      });
      const refused = await scene.upload(key, archive);
      expect([refused.statusCode, refused.json().code, refused.headers["retry-after"]]).toEqual([
        503,
        "UNAVAILABLE",
        "60",
      ]);
      await scene.home.database.query({ text: "update object set removing_until = now()" });
      expect((await scene.upload(key, archive)).statusCode).toBe(201);
    });

    test("while the disk is low, with 503 and when to try again; builds that wait go on waiting", async () => {
      const { key, name } = await scene.createService();
      const archive = await scene.pack(name, returning(5));
      const low = await watchDisk({
        directory: scene.directory,
        floorBytes: 2 ** 60,
        reserve: null,
        logger: createRecordingLogger(),
      });
      expect((await scene.upload(key, await scene.pack(name, returning(6)))).statusCode).toBe(201);
      scene.disk = low;
      const refused = await scene.upload(key, archive);
      expect([refused.statusCode, refused.json().code, refused.headers["retry-after"]]).toEqual([
        503,
        "UNAVAILABLE",
        "30",
      ]);
      expect(await guardBuilds(scene.instance.stores.builds, low).claim("builder", 60)).toBeNull();
      await low.close();
      scene.disk = null;
      expect((await scene.buildAll(key, "1.0.0")).status).toBe("SUCCEEDED");
    });

    test("by the control role alone, which never unpacks: that is the builder's", async () => {
      const { key, name } = await scene.createService();
      const before = await readdir(join(scene.directory, "versions"));
      expect((await scene.upload(key, await scene.pack(name, returning(4)))).statusCode).toBe(201);
      expect(await readdir(join(scene.directory, "versions"))).toEqual(before);
      await scene.buildAll(key, "1.0.0");
      expect((await readdir(join(scene.directory, "versions"))).length).toBe(before.length + 1);
    });

    test("for more bytes than the limit, announced or not, with an answer that arrives", async () => {
      const { key } = await scene.createService();
      const address = await scene.instance.api.listen({ host: "127.0.0.1", port: 0 });
      const url = `${address}/api/services/${key}/versions`;
      const headers = { authorization: `Bearer ${scene.owner.token}`, "content-type": "application/zip" };
      const big = Buffer.alloc(3_000_000);
      const announced = await fetch(url, { method: "POST", headers, body: big });
      expect(announced.status).toBe(413);
      expect(await announced.json()).toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
      const chunked = await fetch(url, {
        method: "POST",
        headers,
        body: new Blob([big]).stream(),
        duplex: "half",
      });
      expect(chunked.status).toBe(413);
      expect(await chunked.json()).toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
      expect(await readdir(join(scene.directory, "objects", "incoming"))).toEqual([]);
    });
  });
});
