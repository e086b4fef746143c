import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLocalOpenApi } from "../../packages/cli/src/serve/local-openapi.ts";
import { createSample } from "./sample.ts";
import type { Sample } from "./sample.ts";
import { installOrFail, run } from "./tools.ts";

const checkedIn = (name: string) =>
  fileURLToPath(new URL(`../../packages/contract/openapi/${name}`, import.meta.url));
const SPECTRAL_RULES = fileURLToPath(new URL("spectral.yaml", import.meta.url));

let sample: Sample;
let node: string;
let python: string;

beforeAll(async () => {
  [sample, node, python] = await Promise.all([
    createSample(),
    installOrFail("node"),
    installOrFail("python"),
  ]);
  const local = createLocalOpenApi({ name: "sample", inputSchema: null });
  await writeFile(join(sample.world.directory, "local.json"), JSON.stringify(local));
});
afterAll(() => sample?.close());

/** Those that are checked in, and those that a version and the local server serve. */
function findDocuments(): readonly string[] {
  return [
    checkedIn("platform-api.json"),
    checkedIn("service-api.json"),
    sample.serviceDocument,
    join(sample.world.directory, "local.json"),
  ];
}

describe("every document is without a warning of", () => {
  test("openapi-spec-validator", async () => {
    const command = [join(python, "bin/python"), "-m", "openapi_spec_validator", "--subschema-errors", "all"];
    const { code, output } = await run([...command, ...findDocuments()]);
    expect([code, output.trim().split("\n")]).toEqual([0, findDocuments().map((file) => `${file}: OK`)]);
  });

  test("redocly", async () => {
    const command = [join(node, "node_modules/.bin/redocly"), "lint", "--format=github-actions"];
    // `/batch/{batchId}` beside `/{id}/result`: an id is a UUID, and `batch` is none (operation.test.ts of the contract).
    command.push("--skip-rule=no-ambiguous-paths");
    const { code, stdout, output } = await run([...command, ...findDocuments()], {
      cwd: node,
      environment: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    });
    // In this format nothing but problems is printed on standard output.
    expect([code, stdout]).toEqual([0, ""]);
    expect(output.match(/: validated in/g)).toHaveLength(findDocuments().length);
  });

  test("spectral", async () => {
    const command = [join(node, "node_modules/.bin/spectral"), "lint", "--ruleset", SPECTRAL_RULES];
    const flags = ["--format", "json", "--fail-severity", "hint"];
    const { code, stdout } = await run([...command, ...flags, ...findDocuments()]);
    expect([code, stdout.replace(/No results.*\n/, "").trim()]).toEqual([0, "[]"]);
  });
});

test("the platform serves the document of its API that is checked in", async () => {
  const [served, present] = await Promise.all(
    [sample.platformDocument, checkedIn("platform-api.json")].map(
      async (file) => JSON.parse(await readFile(file, "utf8")) as unknown,
    ),
  );
  expect(served).toEqual(present);
});
