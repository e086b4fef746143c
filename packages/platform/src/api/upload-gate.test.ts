import { request } from "node:http";
import type { ClientRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import { createUploadGate } from "./upload-gate.ts";
import type { UploadGate } from "./upload-gate.ts";
import type { TestInstance } from "../testing/instance.ts";

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly code: string;
  readonly detail: string;
}

describe("uploads at the same time", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let address: string;

  beforeAll(async () => {
    home = await createTestDatabase();
    instance = await createTestInstance({
      database: home.database,
      uploadLimits: { perOrganisation: 2, inAll: 3 },
    });
    address = await instance.api.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
  });

  const createDeployer = async () => {
    const user = await createTestUser(instance);
    const { organisationId } = user;
    const { key } = await instance.stores.services.create({ organisationId, name: "demo", description: "" });
    return { user, key };
  };
  /** Sends the beginning of an archive and waits with the rest. */
  const begin = (deployer: { user: TestUser; key: string }) => {
    const call = request(`${address}/api/services/${deployer.key}/versions`, {
      method: "POST",
      agent: false,
      headers: { authorization: `Bearer ${deployer.user.token}`, "content-type": "application/zip" },
    });
    call.write("PK");
    return { call, answer: readAnswer(call) };
  };

  test("are bounded for an organisation and in all, and the next is taken when one has ended", async () => {
    const [first, second] = await Promise.all([createDeployer(), createDeployer()]);
    const open = [begin(first), begin(first)];
    // Which of the requests arrives first is not known; the one beyond the limit is answered while the others wait.
    const refused = begin(first);
    const own = await Promise.race([...open, refused].map(({ answer }) => answer));
    expect(own).toMatchObject({ status: 429, retryAfter: "5", code: "RATE_LIMITED" });
    expect(own.detail).toMatch(/already running 2 uploads;/u);

    const others = [begin(second), begin(second)];
    const everybodys = await Promise.race(others.map(({ answer }) => answer));
    expect(everybodys).toMatchObject({ status: 503, retryAfter: "5", code: "UNAVAILABLE" });
    expect(everybodys.detail).toMatch(/too many uploads are running;/iu);

    const all = [...open, refused, ...others];
    for (const { call } of all) call.end();
    const codes = (await Promise.all(all.map(({ answer }) => answer))).map(({ code }) => code);
    expect(codes.toSorted()).toEqual([
      "INVALID_ARCHIVE",
      "INVALID_ARCHIVE",
      "INVALID_ARCHIVE",
      "RATE_LIMITED",
      "UNAVAILABLE",
    ]);
    const again = begin(first);
    again.call.end();
    expect((await again.answer).code).toBe("INVALID_ARCHIVE");
  });

  test("count no longer once the client has gone", async () => {
    const deployer = await createDeployer();
    const gone = [begin(deployer), begin(deployer)];
    const third = begin(deployer);
    await Promise.race([...gone, third].map(({ answer }) => answer));
    for (const { call, answer } of [...gone, third]) {
      answer.catch(() => undefined);
      call.destroy();
    }
    const tryAgain = async () => {
      const next = begin(deployer);
      next.call.end();
      return (await next.answer).code;
    };
    await expect.poll(tryAgain).toBe("INVALID_ARCHIVE");
  });
});

/** An upload that goes on until it is asked to end. */
const hold = (gate: UploadGate, organisationId: string, userId: string) =>
  gate.admit({ organisationId, userId }, async (yielding) => {
    await new Promise((resolve) => yielding.addEventListener("abort", resolve));
    yielding.throwIfAborted();
  });
const refusedAs = async (upload: Promise<unknown>) =>
  await Promise.race([
    upload.then(String, (error: unknown) => error),
    new Promise((resolve) => setImmediate(resolve, "admitted")),
  ]);

describe("the places of uploads", () => {
  test("are bounded for a user too, who would have as many as organisations", async () => {
    const gate = createUploadGate({ perOrganisation: 2, inAll: 16 });
    for (const organisation of ["a", "b"]) void hold(gate, organisation, "ada");
    expect(await refusedAs(hold(gate, "c", "ada"))).toMatchObject({
      code: "RATE_LIMITED",
      message: expect.stringMatching(/^You are already running 2 uploads/u),
    });
    expect(await refusedAs(hold(gate, "c", "bob"))).toBe("admitted");
  });

  test("are shared between users, not only between organisations: the oldest of who has the most ends", async () => {
    const held = createUploadGate({ perOrganisation: 4, inAll: 4, mayEnd: true });
    const uploads = ["a", "b", "c", "d"].map((organisation) => hold(held, organisation, "ada"));
    const ended = Promise.allSettled(uploads.slice(0, 1));
    expect(await refusedAs(hold(held, "e", "bob"))).toBe("admitted");
    expect(await ended).toMatchObject([{ status: "rejected", reason: { code: "UNAVAILABLE" } }]);
    expect(await refusedAs(hold(held, "f", "ada"))).toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("while the store of objects is known to be away", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let address: string;
  let isStoreAway = true;

  beforeAll(async () => {
    home = await createTestDatabase();
    instance = await createTestInstance({ database: home.database, isStoreAway: () => isStoreAway });
    address = await instance.api.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
  });

  test.each(["an archive", "a file"])("%s is refused before it is received", async (what) => {
    isStoreAway = true;
    const user = await createTestUser(instance);
    const { organisationId, token } = user;
    const { key } = await instance.stores.services.create({ organisationId, name: "demo", description: "" });
    const { body: pool } = await createApiCaller(instance)(user, "POST /data-pools", { name: "Maps" });
    const [method, path] =
      what === "a file"
        ? ["PUT", `data-pools/${String(pool["id"])}/files/map.json`]
        : ["POST", `services/${key}/versions`];
    const send = () =>
      request(`${address}/api/${path}`, {
        method,
        agent: false,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/zip" },
      });
    const call = send();
    call.write("PK");
    // The rest has not been sent.
    expect(await readAnswer(call)).toMatchObject({ status: 503, retryAfter: "60", code: "UNAVAILABLE" });
    call.destroy();
    isStoreAway = false;
    const later = send();
    later.end("PK");
    expect((await readAnswer(later)).status).toBe(what === "a file" ? 201 : 400);
  });
});

async function readAnswer(call: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call.on("error", reject);
    call.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        const { code, detail } = JSON.parse(text) as Pick<Answer, "code" | "detail">;
        resolve({ status: response.statusCode, retryAfter: response.headers["retry-after"], code, detail });
      });
    });
  });
}
