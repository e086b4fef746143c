import { expect, test } from "vitest";
import { quoteShell } from "./texts.ts";

test.each([
  ["nightly-1.0_a/b:c@d%e+f=g,h", "nightly-1.0_a/b:c@d%e+f=g,h"],
  ["two words", "'two words'"],
  ["it's", String.raw`'it'\''s'`],
  ["", "''"],
  // zsh puts the path of the program `ls` in its place.
  ["=ls", "'=ls'"],
  ["=", "'='"],
  // Every shell puts a folder in its place.
  ["~", "'~'"],
  ["~root/a", "'~root/a'"],
])("a shell reads %j as one word where it is written %s", (text, written) => {
  expect(quoteShell(text)).toBe(written);
});
