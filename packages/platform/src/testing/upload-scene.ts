import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { DataPool, PoolFile } from "@platform/contract/platform-api/data-pools";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { PART_TYPE, openPart, sendTus, toMetadata } from "../../../../tools/tus-calls.ts";
import type { TusAnswer } from "../../../../tools/tus-calls.ts";
import { PARTS } from "../pools/part-files.ts";
import { createTestUser } from "./fixtures.ts";
import type { TestUser } from "./fixtures.ts";
import { createTestInstance } from "./instance.ts";
import type { TestInstance, TestInstanceOptions } from "./instance.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

interface Begin {
  readonly length?: number | string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly by?: TestUser;
  readonly headers?: Readonly<Record<string, string>>;
}

interface State {
  readonly home: TestDatabase;
  readonly directory: string;
  readonly here: TestInstance;
  /** Another process on the same data. */
  readonly other: TestInstance;
  readonly urls: { readonly here: string; readonly other: string };
}

/** The code of a refusal. */
export function codeOf({ body }: TusAnswer): string {
  return (JSON.parse(body) as { code: string }).code;
}

/** The id in the path of an upload. */
export function idOf(path: string): string {
  return path.split("/").at(-1) ?? "";
}

/** Two processes on one data directory; for each test a user with a data pool. To be called once in a file. `more`: of the first process. */
export function useUploads(
  more: Pick<TestInstanceOptions, "parts" | "wrapStore" | "uploadLimits" | "uploadPace"> = {},
) {
  const state = { isDiskLow: false } as { -readonly [K in keyof State]: State[K] } & {
    isDiskLow: boolean;
    owner: TestUser;
    pool: DataPool;
  };
  const listParts = async () => {
    const names = await readdir(join(state.directory, "objects", PARTS)).catch(() => []);
    return names.filter((name) => name !== "place");
  };
  const auth = (by = state.owner) => ({
    authorization: `Bearer ${by.token}`,
    "x-organizationid": state.owner.organisationId,
  });
  beforeAll(async () => {
    state.home = await createTestDatabase();
    state.directory = await mkdtemp(join(tmpdir(), "platform-uploads-"));
    const options = {
      database: state.home.database,
      directory: state.directory,
      isDiskLow: () => state.isDiskLow,
    };
    state.here = await createTestInstance({ ...options, ...more });
    state.other = await createTestInstance(options);
    state.urls = { here: await listen(state.here), other: await listen(state.other) };
  });
  afterAll(async () => {
    await state.here?.close();
    await state.other?.close();
    await state.home?.close();
    if (state.directory !== undefined) await rm(state.directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    state.isDiskLow = false;
    for (const name of await listParts()) await rm(join(state.directory, "objects", PARTS, name));
    state.owner = await createTestUser(state.here);
    const answer = await state.here.api.inject({
      method: "POST",
      url: "/api/data-pools",
      headers: { ...auth(), "content-type": "application/json" },
      payload: JSON.stringify({ name: "Maps" }),
    });
    state.pool = answer.json();
  });
  const partPath = (name: string) => join(state.directory, "objects", PARTS, name);
  return { ...createRequests(state, auth), ...createLooks(state, auth), state, auth, listParts, partPath };
}

type Scene = State & { readonly owner: TestUser; readonly pool: DataPool };
type Auth = (by?: TestUser) => Readonly<Record<string, string>>;

function listen(instance: TestInstance): Promise<string> {
  return instance.api.listen({ port: 0, host: "127.0.0.1" });
}

function createRequests(state: Scene, auth: Auth) {
  const begin = ({ length = 10, metadata = {}, by, headers = {} }: Begin = {}): Promise<TusAnswer> => {
    const given = {
      dataPoolId: state.pool.id,
      filename: "map.json",
      filetype: "application/json",
      ...metadata,
    };
    return sendTus("POST", `${state.urls.here}/api/uploads`, {
      headers: {
        ...auth(by),
        "upload-length": String(length),
        "upload-metadata": toMetadata(given),
        ...headers,
      },
    });
  };
  const look = (path: string) => sendTus("HEAD", `${state.urls.here}${path}`, { headers: auth() });
  return {
    begin,
    look,
    beginUpload: async (options: Begin = {}): Promise<string> => {
      const begun = await begin(options);
      expect([begun.status, begun.body]).toEqual([201, ""]);
      return begun.headers.location ?? "";
    },
    offsetOf: async (path: string) => Number((await look(path)).headers["upload-offset"]),
    sendPart: (
      path: string,
      offset: number,
      content: string | Buffer,
      headers: Readonly<Record<string, string>> = {},
    ) =>
      sendTus("PATCH", `${state.urls.here}${path}`, {
        headers: { ...auth(), "content-type": PART_TYPE, "upload-offset": String(offset), ...headers },
        content,
      }),
    startPart: (path: string, offset: number, at = state.urls.here) =>
      openPart(`${at}${path}`, { ...auth(), "upload-offset": String(offset) }),
  };
}

function createLooks(state: Scene, auth: Auth) {
  const run = (text: string, ...values: readonly unknown[]) => state.home.database.query({ text, values });
  const waitForRow = (path: string, condition: string) =>
    waitUntil(async () => {
      const rows = await run(`select 1 from pool_upload where id = $1 and ${condition}`, idOf(path));
      return rows.length > 0;
    }, condition);
  return {
    run,
    listFiles: async (): Promise<readonly PoolFile[]> => {
      const url = `/api/data-pools/${state.pool.id}/files`;
      const answer = await state.here.api.inject({ url, headers: auth() });
      return answer.json<{ items: readonly PoolFile[] }>().items;
    },
    readFile: async (fileId: string | undefined): Promise<string> => {
      const url = `/api/data-pools/${state.pool.id}/files/${fileId}/content`;
      return (await state.here.api.inject({ url, headers: auth() })).body;
    },
    /** The request that writes has begun. */
    waitForWriter: (path: string) => waitForRow(path, "writer is not null and parts <> '[]'"),
    waitForNoWriter: (path: string) => waitForRow(path, "writer is null"),
  };
}
