import { execFile, execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findInterpreter } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { ProjectError } from "../project/project-error.ts";
import { createWheel, createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { requirementTexts } from "../testing/requirement-texts.ts";
import { readRequirements } from "./requirements.ts";
import type { Requirements } from "./requirements.ts";
import { IS_FULL_LENGTH } from "../testing/full-length.ts";

/*
 * What we accept means to pip and to uv what it means to us: they read our text as the lines that we wrote, one thing each, and where they
 * accept the author's own text as well, they find the same in it. Both parsers are the real ones.
 */

const execute = promisify(execFile);
const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);

let workspace: Workspace;
let interpreter: Interpreter;
let python: string;
beforeAll(async () => {
  process.stdout.write(`requirement-parsers: FUZZ_SEED=${seed}\n`);
  workspace = await createWorkspace();
  interpreter = await findInterpreter({ searchPath: process.env["PATH"] ?? "" });
  const folder = join(workspace.path, "venv");
  // The pip of a new environment is the one that builds use.
  execFileSync(interpreter.executable.path, ["-I", "-m", "venv", folder]);
  python = join(folder, "bin", "python");
});
afterAll(() => workspace.close());

const FILES = {
  "more.txt": "d==4\n",
  "limits.txt": "a<3\nb==1.0\n",
  "pkg/setup.py": "",
  "x-1-py3-none-any.whl": "",
  "a.zip": "",
};

interface Case {
  readonly directory: string;
  readonly original: string;
  readonly requirements: Requirements;
}

/** The accepted ones of these texts; whatever else is thrown than a refusal fails the test. */
async function readAll(texts: readonly string[], files: Readonly<Record<string, string>>): Promise<Case[]> {
  const cases: Case[] = [];
  for (const [index, original] of texts.entries()) {
    const directory = join(workspace.path, `${Object.keys(files).length}-${index}`);
    await mkdir(directory);
    await writeFiles(directory, { ...files, "requirements.txt": original });
    try {
      const requirements = await readRequirements(directory, interpreter);
      if (requirements !== null) cases.push({ directory, original, requirements });
    } catch (error) {
      if (!(error instanceof ProjectError) || error.code !== "INVALID_PROJECT") throw error;
    }
  }
  return cases;
}

// Prints for each case what pip reads in our texts and in the author's: [constraint?, requirement or options, kind, link, hashes].
const PIP = `
import json, os, sys
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import RequirementsFileParser, get_line_parser
from pip._internal.req.constructors import install_req_from_line
session = PipSession()
def read(name, constraint):
    lines = []
    for line in RequirementsFileParser(session, get_line_parser(None)).parse(name, constraint):
        if not line.is_requirement:
            given = {k: v for k, v in vars(line.opts).items() if v and k != "format_control"}
            control = line.opts.format_control
            if control and (control.no_binary or control.only_binary): given["binary"] = [sorted(control.no_binary), sorted(control.only_binary)]
            lines.append(["option", line.constraint, json.dumps(given, sort_keys=True)])
            continue
        made = install_req_from_line(line.requirement)
        hashes = sorted("--hash=%s:%s" % (k, h) for k, hs in (getattr(line.opts, "hashes", None) or {}).items() for h in hs)
        others = [k for k, v in vars(line.opts).items() if v and k not in ("hashes", "format_control")]
        link = str(made.link.url_without_fragment) if made.link else None
        lines.append(["requirement", line.constraint, str(made.req), str(made.markers), sorted(made.extras), link, hashes, others])
    return lines
def attempt(work):
    try: return work()
    except BaseException as error: return {"error": type(error).__name__ + ": " + str(error)[:200]}
answers = []
for case in json.load(sys.stdin):
    os.chdir(case["work"])
    ours = attempt(lambda: [read("requirements.txt", False), read("constraints.txt", True)])
    os.chdir(case["directory"])
    answers.append([ours, attempt(lambda: read("requirements.txt", False))])
print(json.dumps(answers))
`;

type PipLine = readonly ["option" | "requirement", boolean, string, ...unknown[]];
type PipAnswer = readonly [
  readonly [readonly PipLine[], readonly PipLine[]],
  readonly PipLine[] | { error: string },
];

async function askPip(cases: readonly Case[]): Promise<readonly PipAnswer[]> {
  const input: unknown[] = [];
  for (const { directory, requirements } of cases) {
    // As a build lays it out: our texts, and the project beside them.
    const work = `${directory}-work`;
    await writeFiles(work, {
      "requirements.txt": requirements.text,
      "constraints.txt": requirements.constraints,
      "project/pkg/setup.py": "",
      "project/x-1-py3-none-any.whl": "",
      "project/a.zip": "",
    });
    input.push({ directory, work });
  }
  const running = execute(python, ["-I", "-c", PIP], { maxBuffer: 1024 ** 3 });
  running.child.stdin?.end(JSON.stringify(input));
  return JSON.parse((await running).stdout);
}

/** What the lines of our text say, read without any parser's help. */
function describe(line: string): readonly unknown[] {
  if (line.startsWith("--")) return ["option"];
  const [before = "", ...hashes] = line.split(" --hash=");
  const [requirement = ""] = before.split(" ; ");
  const found = / @ (.*)$|^(https?:.*)$/.exec(requirement);
  const link = found?.[1] ?? found?.[2]?.split("#")[0] ?? (requirement.startsWith("./") ? "file" : null);
  return ["requirement", link?.split("#")[0] ?? null, hashes.map((hash) => `--hash=${hash}`).sort()];
}

function describePip(line: PipLine): readonly unknown[] {
  if (line[0] === "option") return ["option"];
  const [, , , , , link, hashes, others] = line;
  expect(others).toEqual([]);
  return ["requirement", typeof link === "string" && link.startsWith("file:") ? "file" : link, hashes];
}

const splitText = (lines: string) => lines.split("\n").slice(0, -1);

test("pip reads in our text one thing a line, and the same that it reads in the author's", async () => {
  const texts = fc.sample(requirementTexts, { seed, numRuns: 2_000 });
  const cases = await readAll(texts, FILES);
  expect(cases.length).toBeGreaterThan(200);
  const answers = await askPip(cases);
  const understood = cases.flatMap((found, index) => {
    const [ours, theirs] = answers[index] ?? [];
    return Array.isArray(ours) ? [{ ...found, ours, theirs }] : [];
  });
  expect(understood.length).toBeGreaterThan(200);
  // What pip refuses installs nothing: the build fails, and says why.
  const errors = answers.flatMap(([ours]) => (Array.isArray(ours) ? [] : [JSON.stringify(ours)]));
  expect(errors.filter((error) => !/"(InvalidWheelFilename|InstallationError):/.test(error))).toEqual([]);
  for (const { original, requirements, ours, theirs } of understood) {
    const [lines, constraints] = ours;
    const given = Array.isArray(theirs) ? theirs : [...lines, ...constraints];
    expect({
      original,
      lines: lines.map(describePip),
      constraints: constraints.map(describePip),
      given: forgetPlaces(given),
    }).toEqual({
      original,
      lines: splitText(requirements.text).map(describe),
      constraints: splitText(requirements.constraints).map(describe),
      given: forgetPlaces([...lines, ...constraints]),
    });
  }
});

/** Requirements and options as a set of lines: where the project lies, and what the flags of a build say as well, does not matter. */
function forgetPlaces(lines: readonly PipLine[]): readonly string[] {
  const kept = lines.filter(([kind, , given]) => kind !== "option" || given !== '{"require_hashes": true}');
  const written = kept.map((line) =>
    JSON.stringify(line[0] === "option" ? line.slice(0, 3) : [line[1], ...line.slice(2)])
      .replaceAll(/file:\/\/\/[^"]*?\/(?:project|\d+-\d+)(?=[/"])/g, "file:")
      .replaceAll(/\.\/project\/|\.\//g, ""),
  );
  return [...new Set(written)].sort();
}

const NAMES = ["aa", "bb", "cc", "dd"];
const pins = fc.constantFrom(...NAMES.map((name) => `${name}==1.0`));
const ENDS = [
  [
    "\n",
    "\n",
    "\r\n",
    " # c\n",
    " # \\\n",
    "\\\n",
    " \\\n",
    "#\n",
    " ; os_name == 'posix'\n",
    " ; os_name == 'nt'\n",
  ],
  [
    "\u000b",
    "\u000c",
    "\u001c",
    "\u001d",
    "\u001e",
    "\u0085",
    "\u2028",
    "\u2029",
    "\r",
    " # \u0085",
    " # \u2028",
    " # \r",
  ],
].flat();
const ends = fc.constantFrom(...ENDS);
const starts = fc.constantFrom(
  "",
  "",
  "",
  "# ",
  " # \\\n",
  "-c limits.txt\n",
  "-r more.txt\n",
  "\ufeff",
  "\t",
  "-r",
  "\\\n",
);
const pinned = fc
  .array(fc.tuple(starts, pins, ends), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((part) => part.join("")).join(""));

/** Cases that uv resolves, a process each. */
const INSTALLED = IS_FULL_LENGTH ? 60 : 15;

test("uv installs from our text what it says, and the same that it installs from the author's", async (context) => {
  const uv = join(python, "..", "uv");
  try {
    await execute(python, ["-I", "-m", "pip", "install", "--quiet", "uv==0.13.8"]);
  } catch (error) {
    // The other half of the promise needs a package of the index; pip's half needs none.
    process.stdout.write(
      `requirement-parsers: uv is not compared, it cannot be installed: ${String(error)}\n`,
    );
    context.skip();
  }
  const wheels = join(workspace.path, "wheels");
  await writeFiles(
    wheels,
    Object.fromEntries(
      NAMES.map((name) => [`${name}-1.0-py3-none-any.whl`, createWheel(name, { [`${name}.py`]: "" })]),
    ),
  );
  const resolve = async (cwd: string, more: readonly string[] = []): Promise<string | null> => {
    const args = ["pip", "compile", "--no-config", "--no-header", "--no-annotate", "--quiet", "--no-index"];
    const from = [
      "--find-links",
      wheels,
      "--python",
      python,
      "--cache-dir",
      join(workspace.path, "uv-cache"),
    ];
    return execute(uv, [...args, ...from, "requirements.txt", ...more], { cwd }).then(
      ({ stdout }) => stdout,
      () => null,
    );
  };
  const files = { "more.txt": "dd==1.0\n", "limits.txt": "bb==1.0\naa==1.0\n" };
  const cases = await readAll(fc.sample(pinned, { seed, numRuns: 600 }), files);
  expect(cases.length).toBeGreaterThan(20);
  for (const { directory, original, requirements } of cases.slice(0, INSTALLED)) {
    const work = `${directory}-work`;
    await writeFiles(work, {
      "requirements.txt": requirements.text,
      "constraints.txt": requirements.constraints,
    });
    const ours = await resolve(work, ["--constraint", "constraints.txt"]);
    const wanted = splitText(requirements.text).filter(
      (line) => !line.includes("'nt'") && !line.includes('"nt"'),
    );
    const expected = [...new Set(wanted.map((line) => line.split(" ")[0] ?? ""))];
    const theirs = (await resolve(directory)) ?? ours;
    expect({
      original,
      ours: sortLines(ours ?? "refused"),
      theirs: sortLines(theirs ?? "refused"),
    }).toEqual({
      original,
      ours: sortLines(expected.join("\n")),
      theirs: sortLines(expected.join("\n")),
    });
  }
});

function sortLines(lines: string): readonly string[] {
  return lines.split("\n").filter(Boolean).sort(compare);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
