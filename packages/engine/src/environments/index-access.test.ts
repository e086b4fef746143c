import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBuildVariables } from "./build-variables.ts";
import { readIndexAccess } from "./index-access.ts";
import { createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

const SCRATCH = { directory: "/w", home: "/w/home", temporary: "/w/tmp" };
const HOST = {
  PIP_INDEX_URL: "https://reader:s3cret@index.invalid/simple",
  PIP_TARGET: "/elsewhere",
  UV_INDEX_PRIVATE_PASSWORD: "p%ssword",
  https_proxy: "http://t0ken@proxy.invalid:3128",
  AWS_SECRET: "s",
  HOME: "/root",
  PATH: "/root/bin",
};

test("a step with a network sees how to reach the indexes, and nothing else of the host", async () => {
  const variables = createBuildVariables(SCRATCH, (await readIndexAccess(HOST)).variables);
  expect(variables).toMatchObject({
    PIP_INDEX_URL: HOST.PIP_INDEX_URL,
    UV_DEFAULT_INDEX: HOST.PIP_INDEX_URL,
    UV_INDEX_PRIVATE_PASSWORD: HOST.UV_INDEX_PRIVATE_PASSWORD,
    https_proxy: HOST.https_proxy,
    HOME: "/w/home",
    TMPDIR: "/w/tmp",
  });
  expect(Object.keys(variables)).not.toContain("AWS_SECRET");
  expect(Object.keys(variables)).not.toContain("PIP_TARGET");
  expect(variables["PATH"]).not.toContain("root");
});

test("a step without a network sees nothing of the host's variables", () => {
  const variables = createBuildVariables(SCRATCH, null);
  expect(Object.keys(variables).toSorted()).toEqual([
    "HOME",
    "LANG",
    "PATH",
    "PIP_CONFIG_FILE",
    "PIP_ROOT_USER_ACTION",
    "PYTHONUNBUFFERED",
    "TMPDIR",
  ]);
  expect(variables["PIP_CONFIG_FILE"]).toBe("/dev/null");
});

test("credentials of variables and configuration files are struck out of the log, however they are written", async () => {
  await writeFiles(workspace.path, {
    "pip.conf": "[global]\nindex-url = https://someone:in%2Ffile@index.invalid/simple\n",
  });
  const access = await readIndexAccess({ ...HOST, PIP_CONFIG_FILE: join(workspace.path, "pip.conf") });
  const said = [
    "reader",
    "s3cret",
    "p%ssword",
    "p%25ssword",
    "t0ken",
    "in%2Ffile",
    "in/file",
    "index.invalid",
  ];
  expect(access.redact(said.join(" "))).toBe("reader **** **** **** **** **** **** index.invalid");
});

test("paths that variables and configuration files name are visible: certificates, local indexes", async () => {
  const config = join(workspace.path, "pip.conf");
  await writeFiles(workspace.path, { "pip.conf": "[global]\ncert = /company/ca.pem\n" });
  const { readablePaths } = await readIndexAccess({
    PIP_CONFIG_FILE: config,
    PIP_FIND_LINKS: "/srv/wheels file:///srv/more",
    PIP_INDEX_URL: "https://index.invalid/simple",
    HOME: "/root",
  });
  const named = readablePaths.filter((path) => !path.startsWith("/etc/"));
  expect(named.toSorted()).toEqual(["/company/ca.pem", "/srv/more", "/srv/wheels", config].toSorted());
});
