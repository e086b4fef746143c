import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";

const PROGRAM = `
import os
def run(data: dict, params: dict):
    if params.get("file"):
        with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "tour.csv"), "w") as file:
            file.write("Berlin")
    return {"_embedded": 1, "data": data, "text": ',"_links":{}', **({"x": "y" * 2_000_000} if params.get("large") else {})}
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject(PROGRAM);
});
afterAll(() => project.close());

const path = (name: string) => join(project.home.directory, "demo", name);
const verify = (...words: string[]) => project.home.run(["verify", ...words], { folder: "demo" });

/** Starts one, and saves body, result and receipt as a caller does. */
async function execute(body: string): Promise<{ readonly id: string; readonly receipt: string }> {
  const started = await project.start(body, true);
  const id = String(started.body["id"]);
  await writeFile(path("input.json"), body);
  const result = await fetch(`${project.url}/${id}/result`);
  await writeFile(path("result.json"), Buffer.from(await result.arrayBuffer()));
  const response = await fetch(`${project.url}/${id}/receipt`);
  const text = await response.text();
  await writeFile(path("receipt.json"), text);
  const keys = await fetch(`${project.url}/.well-known/receipt-keys.json`);
  await writeFile(path("keys.json"), await keys.text());
  return { id, receipt: (JSON.parse(text) as { receipt: string }).receipt };
}

const FILES = ["receipt.json", "--jwks", "keys.json", "--input", "input.json", "--result", "result.json"];

test.each([
  ["a small result", '{ "data": {"ä": 1.50} }'],
  ["a large result", '{"params": {"large": true}}'],
  ["files", '{"params": {"file": true}}'],
])("the receipt of an execution with %s is verified with files alone", async (_what, body) => {
  const { id } = await execute(body);
  const { exitCode, stdout } = await verify(...FILES, "--json");
  const said = JSON.parse(stdout) as { claims: object; comparisons: object[] };
  expect(said).toMatchObject({
    valid: true,
    claims: { iss: project.url, executionId: id, service: "demo", version: "local", status: "SUCCEEDED" },
    comparisons: [
      { what: "input", matches: "input" },
      { what: "result", matches: "result" },
    ],
  });
  expect(exitCode).toBe(0);
  await writeFile(path("tour.csv"), "Berlin");
  const ofFile = await verify("receipt.json", "--jwks", "keys.json", "--result", "tour.csv", "--json");
  expect(JSON.parse(ofFile.stdout)).toMatchObject({
    comparisons: [{ matches: body.includes("file") ? "tour.csv" : null }],
  });
});

test("content that is not that of the receipt is named, with both digests", async () => {
  await execute("{}");
  await writeFile(path("input.json"), "{ }");
  const { exitCode, stdout } = await verify(...FILES);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /^Input +differs: input\.json is sha256:[0-9a-f]{64}, the receipt says sha256:44136fa355b3/m,
  );
  expect(stdout).toMatch(/^Result +matches: result\.json$/m);
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part = "") =>
  JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;

test("nothing but a receipt that the key has signed is valid", async () => {
  const { receipt } = await execute("{}");
  const [header, payload, signature] = receipt.split(".");
  const claims = decode(payload);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signWith = (head: object) => {
    const text = `${encode(head)}.${payload}`;
    const made = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${made.toString("base64url")}`;
  };
  const head = decode(header);
  const hmac = encode({ ...head, alg: "HS256" });
  const forged: Record<string, [string, RegExp]> = {
    "a changed claim": [
      `${header}.${encode({ ...claims, cpuSeconds: 0 })}.${signature}`,
      /signature is not that of the key/,
    ],
    "another signer": [signWith(head), /signature is not that of the key/],
    "an unknown key": [signWith({ ...head, kid: "other" }), /none with the id "other"/],
    "no algorithm": [`${encode({ ...head, alg: "none" })}.${payload}.AA`, /algorithm is "none"/],
    "a shared secret": [
      `${hmac}.${payload}.${createHmac("sha256", "keys").update(`${hmac}.${payload}`).digest("base64url")}`,
      /algorithm is "HS256"/,
    ],
    "an access token": [signWith({ ...head, typ: "at+jwt" }), /type is "at\+jwt"/],
    "no signature": [`${header}.${payload}.`, /no JSON Web Signature/],
    "a short signature": [`${header}.${payload}.AAAA`, /signature is not that of the key/],
    "other JSON": ['{"token": 1}', /without the member "receipt"/],
    nothing: ["", /no JSON Web Signature/],
  };
  for (const [what, [text, reason]] of Object.entries(forged)) {
    await writeFile(path("receipt.json"), text);
    const { exitCode, stderr } = await verify("receipt.json", "--jwks", "keys.json");
    expect([what, exitCode, stderr]).toEqual([what, 1, expect.stringMatching(reason)]);
  }
});

test("keys are read from a URL that was given, and from no other", async () => {
  await execute("{}");
  const unnamed = await verify("receipt.json");
  expect(unnamed.exitCode).toBe(2);
  expect(unnamed.stderr).toContain(`--jwks ${project.url}/.well-known/receipt-keys.json`);
  const named = await verify("receipt.json", "--jwks", `${project.url}/.well-known/receipt-keys.json`);
  expect(named.exitCode).toBe(0);
  const endless = createServer((_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
      response.once("drain", write);
    };
    write();
  }).listen(0, "127.0.0.1");
  await once(endless, "listening");
  const { port } = endless.address() as AddressInfo;
  const flooded = await verify("receipt.json", "--jwks", `http://127.0.0.1:${port}/`);
  expect(flooded.stderr).toContain("larger than any key set");
  endless.close();
  endless.closeAllConnections();
  await writeFile(path("keys.json"), "[]");
  expect((await verify("receipt.json", "--jwks", "keys.json")).stderr).toContain("no JSON Web Key Set");
});
