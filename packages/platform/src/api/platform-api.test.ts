import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

const CHECKED_IN = new URL("../../../contract/openapi/platform-api.json", import.meta.url);

let database: TestDatabase;
let instance: TestInstance;

beforeAll(async () => {
  database = await createTestDatabase();
  instance = await createTestInstance({ database: database.database });
});

afterAll(async () => {
  await instance.close();
  await database.close();
});

test("content of users is answered as content: an attachment that no browser shows or runs", () => {
  const { downloadPoolFile, downloadResultFile, getJobResultFile, downloadArchive } = PLATFORM_API;
  for (const { answerMode } of [downloadPoolFile, downloadResultFile, getJobResultFile, downloadArchive])
    expect(answerMode).toBe("content");
});

test("the platform API serves the document that is checked in, to anybody", async () => {
  const response = await instance.api.inject({ method: "GET", url: "/api/openapi.json" });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual(JSON.parse(await readFile(CHECKED_IN, "utf8")));
});
