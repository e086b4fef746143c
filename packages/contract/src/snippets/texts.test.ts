import { expect, test } from "vitest";
import { quoteShell, toCurlData, toJavaScriptData } from "./texts.ts";

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

// A terminal takes a delete character that is pasted as the key, which takes the quotation mark away before it.
test.each(["\u007f", "\u0085", "\u202e"])(
  "of %j in a body nothing is pasted but an escape, with the same value",
  (unseen) => {
    const body = `{"a": "${unseen}"}`;
    const escaped = `{"a": "\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}"}`;
    expect(JSON.parse(escaped)).toEqual(JSON.parse(body));
    expect(toCurlData(body)).toBe(`'${escaped}'`);
    expect(toJavaScriptData(body)).toBe(JSON.stringify(escaped));
  },
);
