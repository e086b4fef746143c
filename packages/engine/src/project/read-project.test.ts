import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packProject } from "./pack.ts";
import { readArchivedProject, readProject } from "./read-project.ts";
import {
  catchProjectError,
  createWorkspace,
  MINIMAL_PROJECT,
  writeFiles,
} from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

async function readWith(document: unknown, files: Readonly<Record<string, string>> = {}) {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  await writeFiles(workspace.path, { ...MINIMAL_PROJECT, ...files, "platform.json": text });
  const { archive } = await packProject(workspace.path);
  await writeFile(join(workspace.path, "project.zip"), archive);
  const [unpacked, archived] = await Promise.allSettled([
    readProject(workspace.path),
    readArchivedProject(join(workspace.path, "project.zip")),
  ]);
  // An archive is judged as the folder it was made of.
  expect(archived).toEqual(unpacked);
  if (unpacked.status === "rejected") throw unpacked.reason;
  return unpacked.value;
}

test("a project with everything in it is read as it was written", async () => {
  const document = {
    name: "my-service",
    runtime: "PYTHON_TEMPLATE",
    descriptionFile: "README.md",
    resources: { cpu: 0.3, memory: 2 },
    isolation: "spawn",
    network: { hosts: ["api.example.org", "localhost", "203.0.113.7", "198.51.100.0/24"] },
    output: { resultMegabytes: 1, logMegabytes: 16 },
    timeoutSeconds: 60,
  };
  expect(await readWith(document, { "README.md": "# hello" })).toEqual(document);
});

test("a platform.json saved with a byte order mark is read", async () => {
  expect((await readWith(`\uFEFF${MINIMAL_PROJECT["platform.json"] ?? ""}`)).name).toBe("demo");
});

test("a missing platform.json is named", async () => {
  const error = await catchProjectError(readProject(workspace.path));
  expect(error).toMatchObject({
    code: "INVALID_PROJECT",
    detail: expect.stringContaining("platform.json is missing"),
  });
});

test("a platform.json that is not JSON says where it breaks", async () => {
  const error = await catchProjectError(readWith('{"name": "demo",}'));
  expect(error.detail).toMatch(/^platform\.json is not JSON: .*position 16/);
});

test("an unknown runtime is named with the one that is allowed", async () => {
  const error = await catchProjectError(readWith({ name: "demo", runtime: "JAVA" }));
  expect(error.detail).toBe('platform.json: runtime "JAVA" is not known; the only one is "PYTHON_TEMPLATE".');
  expect(error.errors).toEqual([{ path: "/runtime", message: expect.stringContaining("JAVA") }]);
});

test("every fault of the document is told with its path and what was expected", async () => {
  const document = {
    name: "My Service",
    resources: { cpu: -1, memory: 0.0001, gpu: 1 },
    isolation: "fast",
    timeoutSeconds: "10",
  };
  const { errors } = await catchProjectError(readWith(document));
  const byPath = Object.fromEntries(errors.map((fault) => [fault.path, fault.message]));
  expect(Object.keys(byPath).sort()).toEqual(
    [
      "/name",
      "/resources/cpu",
      "/resources/memory",
      "/resources/gpu",
      "/isolation",
      "/runtime",
      "/timeoutSeconds",
    ].sort(),
  );
  expect(byPath["/name"]).toContain("lower-case letters, digits and hyphens");
  expect(byPath["/resources/cpu"]).toContain("must be > 0");
  expect(byPath["/resources/memory"]).toContain("must be >= 0.01");
  expect(byPath["/resources/gpu"]).toContain("known are cpu, memory");
  expect(byPath["/runtime"]).toBe('runtime is missing: it must be "PYTHON_TEMPLATE".');
  expect(byPath["/isolation"]).toBe('isolation must be "fork" or "spawn", not "fast".');
  expect(byPath["/timeoutSeconds"]).toBe("timeoutSeconds must be of type integer, not string.");
});

test.each([
  ["host", ["/network"], 'network must be "none", "egress" or {"hosts": ['],
  [7, ["/network"], "not 7."],
  [{}, ["/network"], "not {}."],
  [{ hosts: [] }, ["/network/hosts"], "network.hosts is empty; at least one item is needed."],
  [{ hosts: ["api.example.org"], ports: [1] }, ["/network"], 'or {"hosts": ['],
  [{ hosts: ["10.0.0.0/33"] }, ["/network/hosts/0"], "IPv4 address or range such as 203.0.113.0/24"],
  [
    { hosts: ["https://example.org"] },
    ["/network/hosts/0"],
    'network.hosts.0 cannot be "https://example.org"; expected: a host name, or an IPv4 address',
  ],
  [
    { hosts: ["example.org", "256.1.1.1", "2001:db8::1"] },
    ["/network/hosts/1", "/network/hosts/2"],
    "256.1.1.1",
  ],
])("a network of %j is refused with its cause alone", async (network, paths, message) => {
  const { errors } = await catchProjectError(readWith({ name: "demo", runtime: "PYTHON_TEMPLATE", network }));
  expect(errors.map(({ path }) => path)).toEqual(paths);
  expect(errors[0]?.message).toContain(message);
  expect(errors[0]?.message).not.toContain("pattern");
});

const SENTENCE = /[^.]\.$/u;

test("each problem of a document, and all of them together, is a text that ends with one period", async () => {
  const documents = [
    { name: "My Service", resources: { cpu: -1, gpu: 1 }, isolation: "fast", timeoutSeconds: "10" },
    { name: "demo", runtime: "JAVA" },
    { name: "demo", runtime: "PYTHON_TEMPLATE", descriptionFile: "GUIDE.md" },
    { name: "demo", runtime: "PYTHON_TEMPLATE", descriptionFile: "../GUIDE.md" },
    [],
  ];
  for (const document of documents) {
    const { detail, errors } = await catchProjectError(readWith(document));
    expect(errors.length).toBeGreaterThan(0);
    for (const text of [detail, ...errors.map(({ message }) => message)]) expect(text).toMatch(SENTENCE);
  }
});

test("a platform.json with more faults than anybody reads is answered with some of them, never with more than it holds", async () => {
  const document = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, 1]));
  const { detail, errors } = await catchProjectError(readWith({ ...document, name: "x".repeat(500_000) }));
  expect(errors.length).toBeLessThan(100);
  expect(detail.length + JSON.stringify(errors).length).toBeLessThan(50_000);
  const runtime = await catchProjectError(readWith({ name: "demo", runtime: "x".repeat(500_000) }));
  expect(runtime.detail.length).toBeLessThan(500);
});

test.each(["runtime", "isolation"])(
  "a platform.json whose %s is nested 100,000 levels deep is refused",
  async (key) => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const error = await catchProjectError(
      readWith(`{"name":"demo","runtime":"PYTHON_TEMPLATE","${key}":${deep}}`),
    );
    expect(error.detail).toContain("nested deeper than 32 levels");
  },
);

test.each(["null", "[]", '"text"', "1"])("a platform.json holding %s is refused", async (text) => {
  expect((await catchProjectError(readWith(text))).detail).toContain("the document must be of type object");
});

test("a __proto__ key is an unknown field and pollutes nothing", async () => {
  const text = '{"name":"demo","runtime":"PYTHON_TEMPLATE","__proto__":{"polluted":true}}';
  expect((await catchProjectError(readWith(text))).detail).toContain('"__proto__" is not a known field');
  expect("polluted" in {}).toBe(false);
});

test.each([
  [{ resultMegabytes: 0 }, "/output/resultMegabytes"],
  [{ logMegabytes: 17 }, "/output/logMegabytes"],
  [{ logMegabytes: 1.5 }, "/output/logMegabytes"],
  [{ megabytes: 1 }, "/output/megabytes"],
])("an output of %j is refused where it is wrong", async (output, path) => {
  const { errors } = await catchProjectError(readWith({ name: "demo", runtime: "PYTHON_TEMPLATE", output }));
  expect(errors.map((error) => error.path)).toEqual([path]);
});

test("a missing src/program.py and a missing description are told together", async () => {
  const document = { name: "demo", runtime: "PYTHON_TEMPLATE", descriptionFile: "GUIDE.md" };
  await writeFiles(workspace.path, { "platform.json": JSON.stringify(document) });
  const error = await catchProjectError(readProject(workspace.path));
  expect(error.errors.map((fault) => fault.path)).toEqual(["src/program.py", "/descriptionFile"]);
  expect(error.detail).toContain("src/program.py is missing");
  expect(error.detail).toContain("'GUIDE.md' does not exist");
});

test.each(["../secret.md", "/etc/hostname", "a/../../b"])(
  "a description outside of the project (%s) is refused",
  async (path) => {
    const document = { name: "demo", runtime: "PYTHON_TEMPLATE", descriptionFile: path };
    expect((await catchProjectError(readWith(document))).code).toBe("INVALID_PROJECT");
  },
);
