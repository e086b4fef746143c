import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createWheel } from "@platform/engine/testing/project-fixtures";
import { waitFor } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";

let project: ServedProject;

afterEach(() => project.close());

const answering = (value: string) => `def run():\n    return {"answer": "${value}"}\n`;

/** Waits until the terminal has shown `text` so many times. */
const waitForText = (text: string, times = 1) =>
  waitFor(`'${text}' at the terminal`, () =>
    project.running.stderr().split(text).length > times ? true : undefined,
  );

test("an edit counts for the next execution, while a running one keeps its code", async () => {
  project = await serveProject(
    'import time\nfrom pathlib import Path\n\ndef run(data):\n    time.sleep(data.get("sleep", 0))\n    return {"answer": "old"}\n',
  );
  const running = project.execute({ data: { sleep: 6 } });
  await waitFor("the first execution", async () => {
    const list = await fetch(`${project.url}/?status=RUNNING`);
    const items: unknown = await list.json();
    return Array.isArray(items) && items.length === 1 ? true : undefined;
  });
  await project.write("src/program.py", answering("new"));
  await waitForText("Reloaded demo");

  expect(await project.execute({})).toMatchObject({ answer: "new" });
  expect(await running).toMatchObject({ answer: "old" });
});

test("a broken import shows its traceback, fails executions with STARTUP_ERROR, and mending it is enough", async () => {
  project = await serveProject(answering("fine"));
  expect(await project.execute({})).toMatchObject({ answer: "fine" });

  await project.write("src/program.py", "import module_that_is_not_there\n");
  await waitForText("No module named 'module_that_is_not_there'");
  expect(project.running.stderr()).toContain('File "/');
  expect(await project.execute({})).toMatchObject({
    code: "STARTUP_ERROR",
    _embedded: { status: { status: "FAILED" } },
  });

  await project.write("src/program.py", answering("fixed"));
  await waitForText("Reloaded demo");
  expect(await project.execute({})).toMatchObject({ answer: "fixed" });
});

test("a server can be started with a broken import", async () => {
  project = await serveProject("def run(:\n");
  expect(project.running.stderr()).toContain("SyntaxError");
  expect(await project.execute({})).toMatchObject({ code: "STARTUP_ERROR" });
});

test("a module that cannot be forked is named at the terminal, with what to do instead", async () => {
  project = await serveProject(`import os\nPIPE = os.pipe()\n${answering("fine")}`);
  expect(project.running.stderr()).toContain(
    "Each execution starts a fresh interpreter, which is slower: A pipe is still open after the import; open it inside run() to get fast starts.",
  );
  expect(await project.execute({})).toMatchObject({ answer: "fine" });
});

test("a broken platform.json keeps the version before", async () => {
  project = await serveProject(answering("fine"));
  await project.write("platform.json", "{");
  await waitForText("platform.json is not JSON");
  expect(await project.execute({})).toMatchObject({ answer: "fine" });
});

test("types that run declares are checked at the door, and change with an edit", async () => {
  project = await serveProject(answering("any"));
  expect((await project.start({ data: { n: "text" } })).status).toBe(201);

  await project.write(
    "src/program.py",
    "from dataclasses import dataclass\n\n@dataclass\nclass Data:\n    n: int\n\ndef run(data: Data):\n    return {'n': data.n}\n",
  );
  await waitForText("Reloaded demo");
  expect(await project.start({ data: { n: "text" } })).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT" },
  });
  expect(await project.execute({ data: { n: 3 } })).toMatchObject({ n: 3 });
  const { body } = await project.call("/openapi.json");
  expect(JSON.stringify(body["components"])).toContain('"integer"');
});

test("files that are ignored reload nothing", async () => {
  project = await serveProject(answering("fine"));
  await project.write("notes.log", "named in .platformignore");
  await project.write("src/__pycache__/program.pyc", "a cache");
  await project.write("src/helper.py", "");
  await waitForText("Reloaded demo");
  expect(project.running.stderr().split("Reloaded demo")).toHaveLength(2);
});

test("a changed requirement is installed before the next execution", async () => {
  project = await serveProject(
    "def run():\n    try:\n        import tiny\n    except ImportError:\n        return {'tiny': None}\n    return {'tiny': tiny.VALUE}\n",
  );
  expect(await project.execute({})).toMatchObject({ tiny: null });

  await project.write("wheels/tiny-1.0-py3-none-any.whl", createWheel("tiny", { "tiny.py": "VALUE = 42\n" }));
  await waitForText("Reloaded demo");
  await project.write("requirements.txt", "./wheels/tiny-1.0-py3-none-any.whl\n");
  await waitForText("Reloaded demo", 2);
  expect(await project.execute({})).toMatchObject({ tiny: 42 });
});

test("a requirement that does not exist is reported with the message of the installer, and the previous version is served", async () => {
  project = await serveProject(answering("fine"));
  await project.write("requirements.txt", "./wheels/not_there-1.0-py3-none-any.whl\n");
  await waitForText("not reloaded");
  expect(await project.execute({})).toMatchObject({ answer: "fine" });
});

test("Ctrl-C ends running executions, the server and its folders, with success", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "platform-cli-"));
  await chmod(temporary, 0o755);
  project = await serveProject("import time\n\ndef run():\n    time.sleep(600)\n", {
    variables: { TMPDIR: temporary },
  });
  await project.start({});
  expect(await readdir(temporary)).not.toEqual([]);
  project.running.interrupt();
  const { exitCode } = await project.running.ended;

  expect(exitCode).toBe(0);
  await expect(fetch(project.url)).rejects.toThrow("fetch failed");
  expect(await readdir(temporary)).toEqual([]);
  await rm(temporary, { recursive: true });
});

test("the file .env gives the program its variables, an edit of it counts, and what is missing or refused is named without a value", async () => {
  project = await serveProject(
    'import os\nAT_IMPORT = os.environ.get("API_TOKEN")\n\ndef run():\n    return {name: os.environ.get(name) for name in ("API_TOKEN", "MODE")} | {"import": AT_IMPORT}\n',
  );
  const { name, ...settings } = JSON.parse(
    await readFile(join(project.home.directory, "demo/platform.json"), "utf8"),
  ) as Readonly<Record<string, unknown>>;
  await project.write(
    "platform.json",
    JSON.stringify({ name, ...settings, variables: ["API_TOKEN", "MODE"] }),
  );
  await waitForText("platform.json declares API_TOKEN, MODE: add API_TOKEN=... and MODE=... to .env");
  await project.write(".env", "# local\nexport API_TOKEN='a # \"value\"'\nPYTHONPATH=/somewhere-secret\n");
  await waitForText("platform.json declares MODE: add MODE=... to .env");
  await waitForText("Reloaded demo", 2);
  expect(await project.execute({})).toMatchObject({
    API_TOKEN: 'a # "value"',
    import: 'a # "value"',
    MODE: null,
  });
  expect(project.running.stderr()).toContain("PYTHONPATH of .env is left out. PYTHONPATH changes which code");
  expect(project.running.stderr()).not.toMatch(/somewhere-secret|"value"/u);
});
