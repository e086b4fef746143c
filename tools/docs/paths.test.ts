import { expect, test } from "vitest";
import { findPathFaults } from "./paths.ts";

const FILES = [
  "docs/development.md",
  "docs/guide/cli.md",
  "packages/engine/src/worker/dispatcher.ts",
  "packages/platform/schema.sql",
];

const check = (text: string, path = "docs/development.md") => findPathFaults({ path, text }, FILES);

test("a path may be named by its end, without src, as a file or as a folder", () => {
  const text =
    "`packages/engine/src/worker/dispatcher.ts` `engine/worker/dispatcher.ts` `dispatcher.ts` `worker/`";
  expect(check(text)).toEqual([]);
});

test.each(["worker/gone.ts", "gone.ts", "gone/", "tools/gone.md"])(
  "%s, which is not there, is a fault",
  (name) => {
    expect(check(`see \`${name}\``)).toEqual([`there is no ${name}`]);
  },
);

test.each(["npm run check", "/etc/passwd", "http/1.1", "login.json", "*.ts", "<data>/secret/"])(
  "%s is no path of the repository",
  (name) => {
    expect(check(`see \`${name}\``)).toEqual([]);
  },
);

test("what stands in a block of code is not looked at", () => {
  expect(check("```sh\nls `gone.ts` [x](gone.md)\n```")).toEqual([]);
});

test("pages for users may name files of their own, but link to what is there only", () => {
  expect(
    check("`src/mine.py` [other](cli.md) [part](cli.md#up) [gone](gone.md)", "docs/guide/calling.md"),
  ).toEqual(["a link leads nowhere: gone.md"]);
});

test("a link is followed from its page, to files and folders", () => {
  const text = "[a](../packages/engine/) [b](guide/cli.md) [c](https://example.org) [d](../gone)";
  expect(check(text)).toEqual(["a link leads nowhere: ../gone"]);
});

test("a link to a heading needs that heading, on its own page or another", () => {
  const text =
    "## What it is, briefly\n\n[a](#what-it-is-briefly) [b](#gone) [c](guide/cli.md#up) [d](guide/cli.md#gone)";
  expect(check(text)).toEqual(["a link leads nowhere: #gone", "a link leads nowhere: guide/cli.md#gone"]);
});
