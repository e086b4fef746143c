import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data, params):
    return {"cities": len(data["cities"]), "factor": params.get("factor")}
`;

/** A stored file, as far as it is read here. */
interface StoredFile {
  readonly fileId: string;
  readonly reference: object;
}

let world: World;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  ({ serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM)));
});
afterAll(() => world?.close());

test("a job reads a file of a data pool as it was when the job was started, and its result says which content", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Maps" });
  const store = async (content: string): Promise<StoredFile> => {
    const stored = await fetch(`${world.platform.apiUrl}/api/data-pools/${pool.id}/files/map.json`, {
      method: "PUT",
      headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
      body: content,
    });
    expect(stored.status).toBe(201);
    return (await stored.json()) as StoredFile;
  };
  const content = JSON.stringify({
    berlin: { cities: Array.from({ length: 200_000 }, (_, index) => index) },
  });
  const { reference, fileId } = await store(content);
  const dataRef = { ...reference, pointer: "/berlin" };
  const body = { dataRef, params: { factor: 2 } };
  const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, body);
  await store("{}");
  const read = async () => (await world.api<Record<string, unknown>>("GET", `/jobs/${job.id}/result`)).body;
  await expect.poll(read, { timeout: 30_000 }).toMatchObject({
    result: { cities: 200_000, factor: 2 },
    metadata: {
      _inputs: {
        data: { fileId, sha256: createHash("sha256").update(content).digest("hex"), bytes: content.length },
      },
    },
  });
  expect((await world.api("POST", `/jobs?serviceKey=${serviceKey}`, body)).body).toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});
