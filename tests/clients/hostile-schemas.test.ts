/**
 * A service's schema is the text of whoever deployed it, and its clients are compiled and run by whoever calls it. Each payload would say
 * INJECTED where it ran; the first test shows that one of them does when a schema reaches the generator as it is.
 */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../packages/platform/src/clients/create-client.ts";
import { generateModels } from "../../packages/platform/src/clients/generate-models.ts";
import { toPlainSchema } from "../../packages/platform/src/clients/plain-schema.ts";
import { install, installOrFail, run, runOk } from "./tools.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

const LOAD_MODELS = fileURLToPath(new URL("programs/LoadModels.java", import.meta.url));
const JAVA = 'static { System.out.println("INJECTED"); }';
const PYTHON = 'print("INJECTED")';
const SCRIPT = 'console.log("INJECTED")';

/** Each is tried as description, title, name of a member, value of an enumeration, and name of a definition. */
const ALL = [
  `\\u002a\\u002f ${JAVA} \\u002f\\u002a`,
  `\\uuuu002a\\u002f ${JAVA} \\u002f\\u002a`,
  `*/ ${JAVA} /*`,
  `\\u0022); } ${JAVA} void x() { System.out.print(\\u0022`,
  `"); } ${JAVA} void x() { System.out.print("`,
  `x\n${PYTHON}\n`,
  `x\r${PYTHON}\r`,
  `x\u2028${PYTHON}\u2028`,
  `x\u0085${PYTHON}`,
  `x\f${PYTHON}`,
  `"""\n${PYTHON}\n"""`,
  `\\"""\n${PYTHON}\n`,
  `'''\n${PYTHON}\n'''`,
  `\\N{QUOTATION MARK}"""+${PYTHON}`,
  `"]; ${PYTHON}; x["`,
  `{${PYTHON}}`,
  `\${${SCRIPT}}`,
  `*/ ${SCRIPT} /*`,
  `\u202E/* ${JAVA} */`,
  `x\\\n${PYTHON}`,
  "\ud800",
  "",
  " ",
  "1",
  "$",
  "__proto__",
  "constructor",
  "from_dict",
  "obj",
  "isinstance",
  "staticmethod",
  "TypeReference",
  "String",
  "Object",
  "List",
  "Data",
  "Client",
  "class",
  "return",
  "None",
] as const;

/** `npm run test:clients` tries all; a thread for each of them and each language takes minutes. */
const PAYLOADS = IS_FULL_LENGTH ? ALL : ALL.filter((_, index) => index === 1 || index % 4 === 0);
/** At full length the compiler of Java reads classes of all payloads at once. */
const OPTIONS = IS_FULL_LENGTH ? { timeout: 20 * 60_000 } : {};

function everywhere(text: string): Record<string, unknown> {
  return {
    $comment: text,
    $id: text,
    title: text,
    description: text,
    type: "object",
    default: { [text]: text },
    examples: [text],
    pattern: text,
    format: text,
    properties: {
      usual: { type: "integer", title: text, description: text, format: text, minimum: text },
      choice: { enum: [text, "usual"], description: text },
      one: { const: text },
      time: { type: "string", format: "date-time" },
      child: { type: "object", properties: { [text]: { type: "string", description: text } } },
      group: {
        type: "object",
        title: text,
        properties: { usual: { anyOf: [{ type: "integer" }, { type: "string" }] } },
      },
      named: { $ref: `#/$defs/${text}` },
      lists: {
        type: "object",
        properties: {
          [`${text}s`]: { type: "array", items: { type: "object", properties: { a: { type: "boolean" } } } },
        },
      },
    },
    required: ["usual", text],
    $defs: {
      [text]: { type: "object", title: text, description: text, properties: { a: { type: "number" } } },
    },
  };
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "platform-hostile-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, name, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

function create(language: "python" | "javascript", text: string) {
  const schema = everywhere(text);
  const version = {
    serviceKey: "0198a9a4-0000-7000-8000-000000000000",
    service: "hostile",
    version: "1.0.0",
    inputSchema: { properties: { data: schema, params: schema }, $defs: schema["$defs"] },
    outputSchema: schema,
    exampleInput: { data: { usual: 1, [text]: text } },
  };
  return createClient(version, language, { generateModels, gatewayUrl: "http://127.0.0.1:1" });
}

/** Compiles the classes of all packages and loads each, which runs what is static. */
async function runJava(jars: string, packages: readonly string[]) {
  const files = packages.map((name) => join(folder, name));
  const sources = (await Promise.all(files.map((file) => readdir(file)))).flatMap((names, at) =>
    names.map((name) => join(files[at] ?? "", name)),
  );
  const classes = await mkdtemp(join(folder, "classes-"));
  const path = [classes, ...(await readdir(jars)).map((name) => join(jars, name))].join(delimiter);
  await runOk([
    "javac",
    "-nowarn",
    "-encoding",
    "UTF-8",
    "-d",
    classes,
    "-cp",
    path,
    LOAD_MODELS,
    ...sources,
  ]);
  const names = sources.map(
    (file) => `${dirname(file).split("/").at(-1)}.${file.split("/").at(-1)?.slice(0, -5)}`,
  );
  return await run(["java", "-cp", path, "LoadModels", ...names]);
}

describe("in Java", () => {
  test("a payload runs when the schema reaches the generator as it is", async ({ skip }) => {
    const java = await install("java");
    if ("reason" in java) skip(java.reason);
    const files = await generateModels({
      language: "java",
      parts: [
        {
          name: "Data",
          schema: { type: "object", properties: { a: { type: "integer", description: ALL[0] } } },
        },
      ],
      javaPackage: "unguarded",
    });
    await write("unguarded", files ?? {});
    const { output } = await runJava("folder" in java ? java.folder : "", ["unguarded"]);
    expect(output).toContain("INJECTED");
  });

  test("no payload runs, and all classes compile and load", OPTIONS, async ({ skip }) => {
    const java = await install("java");
    if ("reason" in java) skip(java.reason);
    const packages: string[] = [];
    for (const [index, text] of PAYLOADS.entries()) {
      const schema = toPlainSchema(everywhere(text));
      expect({ text, schema }).not.toEqual({ text, schema: null });
      const parts = [{ name: "Data" as const, schema: schema ?? {} }];
      const files = await generateModels({ language: "java", parts, javaPackage: `hostile${index}` });
      expect([text, ...Object.keys(files ?? {})]).toContain("Data.java");
      packages.push(`hostile${index}`);
      await write(`hostile${index}`, files ?? {});
    }
    const { code, output } = await runJava("folder" in java ? java.folder : "", packages);
    expect(output).toMatch(/^loaded \d+ classes\n$/u);
    expect(code).toBe(0);
  });
});

test("in Python no payload runs, and every client can be imported and reads what it wrote", async () => {
  for (const [index, text] of PAYLOADS.entries()) {
    const { files } = await create("python", text);
    expect(files["README.md"]).toContain("`Data`, `Params`, `Output`");
    await write(`python/c${index}`, files);
  }
  await writeFile(
    join(folder, "python", "load.py"),
    `import importlib, sys
from pathlib import Path

clients = sorted(Path(sys.argv[1]).glob("c*"))
value = {"usual": 1, "choice": "usual", "time": "2026-01-01T00:00:00Z", "group": {"usual": "a"}}
for client in clients:
    sys.path.insert(0, str(client))
    module = importlib.import_module("hostile_client")
    assert module.Data.from_dict(value).to_dict() == value, client
    assert module.Output is not module.Params
    sys.path.pop(0)
    for name in [name for name in sys.modules if name.startswith("hostile_client")]:
        del sys.modules[name]
print("loaded", len(clients))
`,
  );
  const { output } = await run(["python3", join(folder, "python", "load.py"), join(folder, "python")]);
  expect(output).toBe(`loaded ${PAYLOADS.length}\n`);
});

test("in JavaScript no payload runs, and the types of every client compile", async () => {
  const node = await installOrFail("node");
  for (const [index, text] of PAYLOADS.entries())
    await write(`javascript/c${index}`, (await create("javascript", text)).files);
  const imports = PAYLOADS.map((_, index) => `import * as c${index} from "./c${index}/index.js";`).join("\n");
  const uses = PAYLOADS.map(
    (_, index) => `{ const data: c${index}.Data = { usual: 1 }; void new c${index}.Client().run(data); }`,
  ).join("\n");
  await write("javascript", {
    "use.ts": `${imports}\nexport function use(): void {\n${uses}\n}\n`,
    "load.mjs": `${imports}\nconsole.log("loaded", [${PAYLOADS.map((_, index) => `c${index}.Client`).join(", ")}].length);\n`,
    "package.json": '{"type":"module"}',
  });
  await symlink(join(node, "node_modules"), join(folder, "javascript/node_modules"));
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
  await runOk([join(node, "node_modules/.bin/tsc"), ...flags, join(folder, "javascript/use.ts")]);
  const { output } = await run(["node", join(folder, "javascript/load.mjs")]);
  expect(output).toBe(`loaded ${PAYLOADS.length}\n`);
});

test("no reference leads to a request", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json`;
  const schema = {
    type: "object",
    properties: { a: { $ref: url }, b: { $ref: "file:///etc/passwd" }, c: { $ref: `${url}#/$defs/X` } },
  };
  expect(toPlainSchema(schema)).toEqual({
    type: "object",
    properties: { a: {}, b: {}, c: {} },
    required: [],
  });
  // Nor would the generator follow one that got through.
  const parts = [{ name: "Data" as const, schema }];
  expect(await generateModels({ language: "python", parts, javaPackage: "a" })).toBeNull();
  expect(asked).toEqual([]);
  server.close();
});
