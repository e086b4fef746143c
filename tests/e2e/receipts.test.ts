import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const PROGRAM = `
import os

def run(data):
    with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "tour.csv"), "w") as file:
        file.write("Berlin")
    return {"length": data["n"], "padding": "x" * data.get("padding", 0)}
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const sha256 = (text: string | Uint8Array) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

test(
  "a caller verifies the receipt of an execution without the platform, and an owner that of a job",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
    const { cli, directory, deploy, createProject } = world;
    const project = await createProject("tour", PROGRAM);
    const { serviceKey } = await deploy(project);
    const consumer = await world.subscribe(serviceKey);
    const { origin } = new URL(consumer.endpoint);
    const headers = { authorization: `Bearer ${consumer.token}` };
    const save = async (name: string, url: string) => {
      const bytes = Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
      await writeFile(join(directory, name), bytes);
      return bytes;
    };
    const verify = async (...words: string[]) => {
      const { code, stdout } = await cli(directory, "verify", ...words, "--json");
      return {
        code,
        said: JSON.parse(stdout) as { readonly claims?: object; readonly comparisons?: object },
      };
    };
    await save("keys.json", `${origin}/.well-known/receipt-keys.json`);
    const files = ["--jwks", "keys.json", "--input", "body.json", "--result", "result.json"];
    const digests = new Set<unknown>();
    for (const body of ['{"data": {"n": 7542}}', '{"data": {"n": 1, "padding": 3000000}}']) {
      const started = await fetch(consumer.endpoint, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      const { id } = (await started.json()) as { id: string };
      expect((await consumer.finish(id)).status).toBe("SUCCEEDED");
      await writeFile(join(directory, "body.json"), body);
      await save("receipt.json", `${consumer.endpoint}${id}/receipt`);
      const result = await save("result.json", `${consumer.endpoint}${id}/result`);
      const { code, said } = await verify("receipt.json", ...files);
      // As a caller makes it who has no CLI: the bytes of the value, which another tool must not write anew.
      const value = result.subarray('{"result":'.length, result.lastIndexOf(',"metadata":'));
      expect(said).toMatchObject({
        valid: true,
        claims: {
          iss: origin,
          executionId: id,
          serviceKey,
          service: "tour",
          version: "1.0.0",
          requirementsDigest: sha256(""),
          python: expect.stringMatching(/^3\.\d+\.\d+$/u),
          inputDigest: sha256(body),
          resultDigest: sha256(value),
          resultFiles: [{ name: "tour.csv", digest: sha256("Berlin"), bytes: 6 }],
          status: "SUCCEEDED",
          cpuSeconds: expect.any(Number),
        },
        comparisons: [{ matches: "input" }, { matches: "result" }],
      });
      expect(code).toBe(0);
      digests.add((said.claims as { readonly versionDigest: string }).versionDigest);
    }
    expect(digests.size).toBe(1);

    await writeFile(join(directory, "body.json"), "{}");
    expect(await verify("receipt.json", ...files)).toMatchObject({
      code: 1,
      said: { comparisons: [{ matches: null }, { matches: "result" }] },
    });

    const ran = await cli(project, "run", "tour", "-d", '{"n": 2}', "-p", "{}", "--json");
    const { id } = JSON.parse(ran.stdout) as { id: string };
    const ofJob = await verify(id);
    expect(ofJob).toMatchObject({ code: 0, said: { claims: { iss: origin, executionId: id } } });
    const foreign = await cli(directory, "verify", "00000000-0000-4000-8000-000000000000");
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      expect.stringContaining("There is no such execution."),
    ]);
  },
);
