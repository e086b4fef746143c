import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findReason } from "./build-log.ts";
import { createBuildVariables } from "./build-variables.ts";
import { findInterpreter } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { catchProjectError, createWorkspace, writeFiles } from "./project-fixtures.ts";
import type { Workspace } from "./project-fixtures.ts";
import { readRequirements } from "./requirements.ts";

let workspace: Workspace;
let interpreter: Interpreter;
let count = 0;
beforeAll(async () => {
  interpreter = await findInterpreter({ searchPath: process.env["PATH"] ?? "" });
});
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

async function read(files: Readonly<Record<string, string>>) {
  return readRequirements(await writeFiles(join(workspace.path, `p${(count += 1)}`), files), interpreter);
}

test("comments, blank lines, line ends and spaces do not make another environment; versions do", async () => {
  const plain = await read({ "requirements.txt": "numpy==2.0\nscipy\n" });
  const dressed = await read({ "requirements.txt": "\uFEFF# hello\r\nnumpy==2.0   # fast\r\n\r\n  scipy" });
  expect(dressed?.identity).toBe(plain?.identity);
  expect((await read({ "requirements.txt": "numpy==2.1\nscipy\n" }))?.identity).not.toBe(plain?.identity);
  expect(plain?.isLocal).toBe(false);
});

test("files that a requirements file names decide as well, and travel with it", async () => {
  const files = {
    "requirements.txt": "-r more/base.txt\n-c limits.txt",
    "more/base.txt": "--requirement=deep.txt\n",
    "more/deep.txt": "six",
    "limits.txt": "six<2",
  };
  const first = await read(files);
  expect([...(first?.files.keys() ?? [])].sort()).toEqual(Object.keys(files).sort());
  expect((await read({ ...files, "limits.txt": "six<3" }))?.identity).not.toBe(first?.identity);
});

test.each([
  "-r ../secret.txt",
  "-r /etc/passwd",
  "-c absent.txt",
  "-e .",
  "--editable ./x",
  "-r requirements.txt",
])("'%s' is refused with the file and the reason", async (line) => {
  const error = await catchProjectError(read({ "requirements.txt": `${line}\n` }));
  expect(error).toMatchObject({
    code: "INVALID_PROJECT",
    detail: expect.stringContaining("requirements.txt"),
  });
});

test("a package that lies in the project counts by its content, not by its name", async () => {
  for (const line of ["./pkg", "pkg @ file:./pkg", "wheels/x.whl", "pkg/"]) {
    const first = await read({ "requirements.txt": line, "pkg/setup.py": "1" });
    const second = await read({ "requirements.txt": line, "pkg/setup.py": "2" });
    expect(first?.isLocal).toBe(true);
    expect(second?.identity).not.toBe(first?.identity);
  }
});

test.each([
  ["not TOML", "[project", /cannot be read/],
  ["dynamic", '[project]\nname="x"\ndynamic=["dependencies"]', /dynamic/],
  ["Poetry's", '[tool.poetry.dependencies]\npython="^3.11"', /tool\.poetry/],
  ["no list", '[project]\ndependencies="six"', /list of strings/],
  ["an option", '[project]\ndependencies=["--index-url=http://x"]', /list of strings/],
])("dependencies of pyproject.toml that are %s are refused", async (_name, text, expected) => {
  expect((await catchProjectError(read({ "pyproject.toml": text }))).detail).toMatch(expected);
});

test("requirements.txt goes before pyproject.toml", async () => {
  const both = await read({
    "requirements.txt": "six",
    "pyproject.toml": '[project]\ndependencies=["numpy"]',
  });
  expect(both?.identity).toBe((await read({ "requirements.txt": "six" }))?.identity);
});

test("a build sees the settings of the package index and no other variable of the host", () => {
  const host = {
    PIP_INDEX_URL: "i",
    PIP_TARGET: "t",
    UV_INDEX_PRIVATE_PASSWORD: "p",
    https_proxy: "h",
    AWS_SECRET: "s",
    HOME: "/root",
    PATH: "/root/bin",
  };
  const variables = createBuildVariables(host, { home: "/w/home", temporary: "/w/tmp" });
  expect(variables).toMatchObject({
    PIP_INDEX_URL: "i",
    UV_DEFAULT_INDEX: "i",
    UV_INDEX_PRIVATE_PASSWORD: "p",
    https_proxy: "h",
    HOME: "/w/home",
    TMPDIR: "/w/tmp",
  });
  expect(Object.keys(variables)).not.toContain("AWS_SECRET");
  expect(Object.keys(variables)).not.toContain("PIP_TARGET");
  expect(variables["PATH"]).not.toContain("root");
});

test.each([
  [
    ["Collecting x", "ERROR: Could not find a version", "ERROR: No matching distribution found for x==1"],
    "No matching distribution found for x==1",
  ],
  [
    ["  × No solution found", "  ╰─▶ Because x was not found and you require x, no.", "hint: look"],
    "Because x was not found and you require x, no.",
  ],
  [["error: No solution", "  cause: Because x is gone"], "Because x is gone"],
  [
    ["  ValueError: odd", "ERROR: Failed to build installable wheels", "error: metadata-generation-failed"],
    "Failed to build installable wheels",
  ],
  [["some", "words", ""], "words"],
  [[], "it printed nothing"],
])("of a failed build's last lines %j the telling one is kept", (tail, expected) => {
  expect(findReason(tail)).toBe(expected);
});
