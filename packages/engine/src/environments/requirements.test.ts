import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findReason } from "./build-log.ts";
import { findInterpreter } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { ProjectError } from "../project/project-error.ts";
import { catchProjectError, createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { describeRequirements, readRequirements } from "./requirements.ts";

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

async function read(files: Readonly<Record<string, string | Buffer>>) {
  return readRequirements(await writeFiles(join(workspace.path, `p${(count += 1)}`), files), interpreter);
}

test("comments, blank lines, line ends and spaces do not matter; versions and markers do", async () => {
  const plain = await read({ "requirements.txt": "numpy==2.0\nscipy\n" });
  const dressed = await read({
    "requirements.txt": "\uFEFF# -*- coding: utf-8 -*- h\u00E9llo\r\nnumpy == 2.0   # fast\r\n\r\n\t scipy",
  });
  expect(dressed).toEqual(plain);
  expect(plain).toMatchObject({ text: "numpy==2.0\nscipy\n", constraints: "", content: null });
  expect((await read({ "requirements.txt": "numpy==2.1\nscipy\n" }))?.text).not.toBe(plain?.text);
});

test("what people read of requirements has no user, password or query of an address", async () => {
  const requirements = await read({
    "requirements.txt":
      "tour @ https://user:secret@example.org/tour-1.0-py3-none-any.whl?token=secret\n--index-url https://user:the@secret@example.org/simple\nnumpy==2.0\n-c limits.txt\n",
    "limits.txt": "scipy<2\n",
  });
  expect(requirements?.text).toContain("secret");
  const shown = describeRequirements(requirements);
  expect(shown).not.toContain("secret");
  expect(shown).toContain("tour @ https://example.org/tour-1.0-py3-none-any.whl");
  expect(shown).toMatch(/numpy==2\.0\n# constraints\nscipy<2\n$/u);
  expect(describeRequirements(null)).toBe("");
});

test.each([
  ["numpy [ dev , test ] >= 2 , < 3", "numpy[dev,test]>=2,<3"],
  [
    "numpy==2.*;python_version>='3.12' and (os_name == \"posix\" or 'linux' in sys_platform)",
    'numpy==2.* ; python_version >= "3.12" and (os_name == "posix" or "linux" in sys_platform)',
  ],
  [
    `six==1.0 \\\n  --hash sha256:${"a".repeat(64)} \\\n  --hash=sha256:${"b".repeat(64)}`,
    `six==1.0 --hash=sha256:${"a".repeat(64)} --hash=sha256:${"b".repeat(64)}`,
  ],
  [
    "six@https://example.org/six.whl#sha256=00 ; os_name=='nt'",
    'six @ https://example.org/six.whl#sha256=00 ; os_name == "nt"',
  ],
  ["numpy (>=2.0.1, <3.0) ; os_name == 'nt'", 'numpy>=2.0.1,<3.0 ; os_name == "nt"'],
  ["requests[socks](==2.*)", "requests[socks]==2.*"],
  ["six @ git+https://example.org/six@v1", "six @ git+https://example.org/six@v1"],
  ["https://example.org/six-1.0-py3-none-any.whl", "https://example.org/six-1.0-py3-none-any.whl"],
  ["-i https://user:secret@example.org/simple", "--index-url https://user:secret@example.org/simple"],
  ["--extra-index-url=https://example.org/simple/", "--extra-index-url https://example.org/simple/"],
  ["--only-binary :all:", "--only-binary :all:"],
  ["wheels/x.whl [dev]", "./project/wheels/x.whl[dev]"],
  ["x.whl", "./project/x.whl"],
  ["pkg[dev] @ file:./pkg ; os_name=='nt'", './project/pkg[dev] ; os_name == "nt"'],
  [".", "./project"],
  ["-f ./wheels", "--find-links ./project/wheels"],
])("'%s' is written out as '%s'", async (line, expected) => {
  const requirements = await read({
    "requirements.txt": `${line}\nnumpy\n`,
    "wheels/x.whl": "",
    "x.whl": "",
    "pkg/setup.py": "",
  });
  expect(requirements?.text).toBe(`${expected}\nnumpy\n`);
});

test.each([
  ["numpy==2.3.1\n# \\\nevil @ https://example.org/evil.whl", 2, /comment cannot be continued/],
  ["numpy==2.3.1 # c\u000Cevil @ https://example.org/evil.whl", 1, /U\+000C/],
  ["numpy # \u0085evil", 1, /U\+0085/],
  ["numpy # \u2028evil", 1, /U\+2028/],
  ["numpy # \u001Eevil", 1, /U\+001E/],
  ["numpy\rscipy", 1, /U\+000D/],
  ["numpy\u0000", 1, /U\+0000/],
  ["numpy\n\uFEFFscipy", 2, /U\+FEFF/],
  ["# coding: unicode_escape\n# \\u000aevil", 1, /encoding/],
  ["nump\\\ny", 1, /end of a line/],
  ["numpy \\ \nscipy", 1, /end of a line/],
  ["numpy \\", 2, /nothing follows/],
  ["numpy \\\n\nscipy", 2, /nothing follows/],
  ["numpy \\\n# comment\n--hash=x", 2, /comment/],
  ["numpy==${VERSION}", 1, /version/],
  ["https://${HOST}/x.whl", 1, /not understood/],
  ["numpy scipy", 1, /'scipy'/],
  ["numpy==1.0 --global-option=x", 1, /only option/],
  ["numpy==1.0 --hash=md5:00", 1, /sha256/],
  ["numpy (>=2", 1, /parenthesis .* not closed/],
  ["numpy ()", 1, /not understood/],
  ["numpy ((>=2))", 1, /not understood/],
  ["numpy\u00A0>=2", 1, /U\+00A0/],
  ["numpy=1.26.4=py311h", 1, /compared with ==/],
  ["numpy=>1.20", 1, /compared with ==/],
  ["git+ssh://git@example.org/a.git", 1, /begin with https:/],
  ["torch --index-url https://example.org/whl", 1, /line of their own/],
  ["--index-url https://${USER}@example.org/simple", 1, /without quotes, \$\{VARIABLE\}/],
  ["certifi @ file:///croot/certifi_1690232220950/work", 1, /name a version instead, as in 'certifi==1\.0'/],
  ["numpy===2", 1, /not understood/],
  ["numpy; extra == 'x'", 1, /marker/],
  ["numpy; platform_version == 'a -r b'", 1, /marker/],
  [`numpy; ${"(".repeat(60)}os_name == 'x'${")".repeat(60)}`, 1, /too deep/],
  ["nu\u{0301}mpy", 1, /not understood/],
  ["six @ ftp://example.org/x.whl", 1, /after '@'/],
  ["six @ https://example.org/x.whl;os_name=='nt'", 1, /space/],
  ["six==1.0.zip", 1, /name of a file/],
  ["../x.whl", 1, /outside of the project/],
  ["/etc/x.whl", 1, /outside of the project/],
  ["pkg @ file:///etc", 1, /outside of the project/],
  ["./absent", 1, /does not exist/],
  ["-r ../secret.txt", 1, /outside of the project/],
  ["-r /etc/passwd", 1, /outside of the project/],
  ["-r https://example.org/more.txt", 1, /one file/],
  ["-c absent.txt", 1, /does not exist/],
  ["-r requirements.txt", 0, /nested deeper/],
  ["-e .", 1, /editable/],
  ["--editable ./x", 1, /editable/],
  ["numpy\n--pre", 2, /not supported/],
  ["--trusted-host example.org", 1, /not supported/],
  ["--index https://example.org", 1, /not supported/],
  ["--index-url https://a.example --extra-index-url https://b.example", 1, /one address/],
  ["-r=more.txt", 1, /not supported/],
  ["--no-index yes", 1, /no value/],
])("%j is refused with its line and the reason", async (text, line, reason) => {
  const error = await catchProjectError(read({ "requirements.txt": `${text}\n` }));
  expect(error.code).toBe("INVALID_PROJECT");
  expect(error.detail).toMatch(reason);
  expect(error.detail).toContain(line === 0 ? "requirements.txt" : `requirements.txt, line ${line}:`);
  expect(error.detail).toMatch(/[^.]\.$/u);
  expect(error.errors).toMatchObject([{ path: "requirements.txt", message: error.detail }]);
});

test("what is not UTF-8 is refused", async () => {
  const latin = Buffer.from("numpy # caf\u00E9\n", "latin1");
  expect((await catchProjectError(read({ "requirements.txt": latin }))).detail).toContain("save it as UTF-8");
  const wide = Buffer.from("\uFEFFnumpy\n", "utf16le");
  expect((await catchProjectError(read({ "requirements.txt": wide }))).detail).toContain("save it as UTF-8");
});

test("requirements have 64 kB in all, however often a file is named", async () => {
  const half = `# ${"x".repeat(33_000)}\n`;
  const twice = read({ "requirements.txt": `${half}-r more.txt\n`, "more.txt": `${half}numpy\n` });
  expect((await catchProjectError(twice)).detail).toContain("64 kB in all");
  const again = read({ "requirements.txt": "-r m.txt\n-r m.txt\n", "m.txt": `${half}numpy\n` });
  expect((await catchProjectError(again)).detail).toContain("64 kB in all");
});

// A pattern that tries again from each position took 3 s for each of the first ten texts: the deadline is far from both.
test("no text of 64 kB holds the process for long", { timeout: 30_000 }, async () => {
  const units = [
    " \\\n",
    "#",
    "\\",
    "a ",
    "a,",
    "a[",
    "a;(",
    "-",
    "a==1,",
    "1.*",
    " ",
    "./",
    "\t",
    "'",
    "a @ ",
  ];
  const texts = units.flatMap((unit) => ["", "\u2028", "]"].map((end) => [unit, end] as const));
  const worst = Array.from({ length: 10 }, () => [" #", "\u2028"] as const);
  let refused = 0;
  for (const [unit, end] of [...worst, ...texts]) {
    const text = `${unit.repeat(Math.floor(65_000 / unit.length))}${end}`;
    for (const start of ["", "six "])
      await read({ "requirements.txt": `${start}${text}` }).catch((error: unknown) => {
        if (!(error instanceof ProjectError)) throw error;
        refused += 1;
      });
  }
  expect(refused).toBeGreaterThanOrEqual(2 * worst.length);
});

test("constraints stay constraints, wherever they stand", async () => {
  const a = await read({
    "requirements.txt": "-c limits.txt\nnumpy\n",
    "limits.txt": "numpy==2.0\nscipy==1.1\n",
  });
  const b = await read({
    "requirements.txt": "-c limits.txt\nscipy==1.1\nnumpy\n",
    "limits.txt": "numpy==2.0\n",
  });
  expect(a).toMatchObject({ text: "numpy\n", constraints: "numpy==2.0\nscipy==1.1\n" });
  expect(b).toMatchObject({ text: "scipy==1.1\nnumpy\n", constraints: "numpy==2.0\n" });
});

test.each([
  ["-r more.txt", /requirements cannot be named/],
  ["numpy[dev]==2", /a constraint is/],
  ["./pkg", /a constraint is/],
  ["numpy @ https://example.org/x.whl", /a constraint is/],
  ["--index-url https://example.org", /a constraint is/],
])("'%s' is refused as a constraint", async (line, reason) => {
  const error = await catchProjectError(
    read({ "requirements.txt": "numpy\n-c limits.txt\n", "limits.txt": `${line}\n`, "more.txt": "six\n" }),
  );
  expect(error.detail).toMatch(/^limits\.txt, line 1: /);
  expect(error.detail).toMatch(reason);
});

test("files that a requirements file names are read from where they stand, and written into one", async () => {
  const files = {
    "requirements.txt": "scipy\n-r more/base.txt\n-c limits.txt",
    "more/base.txt": "numpy\n--requirement=deep.txt\nsympy\n",
    "more/deep.txt": "six",
    "limits.txt": "six<2",
  };
  expect(await read(files)).toMatchObject({ text: "scipy\nnumpy\nsix\nsympy\n", constraints: "six<2\n" });
  const path = { ...files, "more/deep.txt": "./pkg", "pkg/setup.py": "" };
  expect((await catchProjectError(read(path))).detail).toMatch(/^more\/deep\.txt, line 1: .*root/);
});

test("a package that lies in the project counts by the project's content, not by its name", async () => {
  for (const line of ["./pkg", "pkg @ file:./pkg", "wheels/x.whl", "pkg/", "."]) {
    const files = { "requirements.txt": line, "wheels/x.whl": "w" };
    const first = await read({ ...files, "pkg/setup.py": "1" });
    const second = await read({ ...files, "pkg/setup.py": "2" });
    expect(first?.text).toMatch(/^\.\/project/);
    expect(second?.text).toBe(first?.text);
    expect(second?.content).not.toBe(first?.content);
  }
});

test("only a list in which each line is one version with a hash is pinned", async () => {
  const hash = `--hash=sha256:${"a".repeat(64)}`;
  const isPinned = async (text: string, more = {}) =>
    (await read({ "requirements.txt": text, ...more }))?.isPinned;
  expect(await isPinned(`six==1.0 ${hash}\nnumpy==2.0 ${hash} ${hash}\n`)).toBe(true);
  expect(await isPinned(`--require-hashes\nsix==1.0 ${hash}\n`)).toBe(true);
  for (const line of [
    "six==1.0",
    `six>=1.0 ${hash}`,
    `six==1.* ${hash}`,
    `six==1.0,<2 ${hash}`,
    `six @ https://example.org/six.whl ${hash}`,
    `./six.whl ${hash}`,
    "--index-url https://example.org",
    "--no-binary six",
    "-c limits.txt",
  ])
    expect(await isPinned(`numpy==2.0 ${hash}\n${line}\n`, { "six.whl": "", "limits.txt": "six<2" })).toBe(
      false,
    );
  expect((await read({ "requirements.txt": `six==1.0 ${hash}\nnumpy\n` }))?.requiresHashes).toBe(true);
});

/** The sources that uv would take instead are not read. */
function createPyproject(list: readonly string[]): Readonly<Record<string, string>> {
  const sources = '[tool.uv.sources]\nsix={git="https://example.org"}\n';
  return { "pyproject.toml": `[project]\nname="x"\ndependencies=${JSON.stringify(list)}\n${sources}` };
}

test("dependencies of pyproject.toml come through the same door", async () => {
  expect((await read(createPyproject(["six >= 1", "numpy ; os_name == 'nt'"])))?.text).toBe(
    'six>=1\nnumpy ; os_name == "nt"\n',
  );
  for (const line of ["six\nevil", "six \\", "six # \u000bevil", "six==${X}", "six --hash=sha256:00"]) {
    const { detail } = await catchProjectError(read(createPyproject([line])));
    expect(detail).toMatch(/^pyproject\.toml/);
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
  expect(both).toEqual(await read({ "requirements.txt": "six" }));
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
  [
    [
      "ERROR: Failed building wheel for docopt",
      "Failed to build docopt",
      "ERROR: Failed to build one or more wheels",
    ],
    "Failed building wheel for docopt",
  ],
  [["some", "words", ""], "words"],
  [[], "it printed nothing."],
])("of a failed build's last lines %j the telling one is kept", (tail, expected) => {
  expect(findReason(tail)).toBe(expected);
});
