import { mkdir, readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readProject } from "@platform/engine/project/read-project";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TEMPLATES } from "../project/create-project.ts";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";

let home: CliHome;

beforeEach(async () => {
  home = await createCliHome();
});

afterEach(() => home.close());

test.each(TEMPLATES.map(({ id }) => id))(
  "template %s makes a project that is complete and valid",
  async (template) => {
    const words = [
      "init",
      "--name",
      "my-service",
      "--template",
      template,
      "--cpu",
      "0.5",
      "--memory",
      "2",
      "--json",
    ];
    const { exitCode, stdout } = await home.run(words);

    expect(exitCode).toBe(0);
    const directory = join(home.directory, "my-service");
    expect(JSON.parse(stdout)).toMatchObject({ name: "my-service", template, directory });
    const files = [
      ".platformignore",
      "README.md",
      "input/data.json",
      "input/params.json",
      "platform.json",
      "requirements.txt",
      "src/__init__.py",
      "src/program.py",
    ];
    for (const file of files) expect((await stat(join(directory, file))).isFile()).toBe(true);
    expect(await readProject(directory)).toEqual({
      name: "my-service",
      descriptionFile: "README.md",
      resources: { cpu: 0.5, memory: 2 },
      runtime: "PYTHON_TEMPLATE",
    });
    expect(await readFile(join(directory, "README.md"), "utf8")).toContain("# my-service");
    for (const input of ["data", "params"]) {
      expect(JSON.parse(await readFile(join(directory, `input/${input}.json`), "utf8"))).toBeTypeOf("object");
    }
  },
);

test("an existing folder is left as it is", async () => {
  await mkdir(join(home.directory, "taken"));
  const { exitCode, stderr } = await home.run(["init", "--name", "taken"]);

  expect(exitCode).toBe(1);
  expect(stderr).toContain("already exists");
  expect(await readdir(join(home.directory, "taken"))).toEqual([]);
});

test.each(["../out", "Upper", "-x-", "", "a".repeat(64), "a/b"])(
  "the name '%s' is refused and makes nothing",
  async (name) => {
    const { exitCode } = await home.run(["init", `--name=${name}`]);
    expect(exitCode).toBe(2);
    expect(await readdir(home.directory)).toEqual([]);
  },
);

test.each([
  ["--cpu", "0"],
  ["--cpu", "many"],
  ["--memory", "-1"],
  ["--template", "none"],
])("%s %s is wrong usage", async (option, value) => {
  expect((await home.run(["init", "--name", "x", option, value])).exitCode).toBe(2);
});
