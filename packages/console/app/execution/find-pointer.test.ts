import { expect, test } from "vitest";
import { layOutJson } from "../util/exact-json.ts";
import { findPointer } from "./find-pointer.ts";

async function pointersOf(json: string): Promise<readonly string[]> {
  const laidOut = await layOutJson(json, () => Promise.resolve());
  const lines = laidOut?.text.split("\n") ?? [];
  return lines.map((_, at) => findPointer((number) => lines[number - 1] ?? "", at + 1));
}

test("each line has the path of its value", async () => {
  expect(await pointersOf('{"a/b":[1,{"c":[true,"x: {"]},[3]],"d~":{}}')).toEqual([
    "", // {
    "/a~1b", // "a/b": [
    "/a~1b/0", // 1,
    "/a~1b/1", // {
    "/a~1b/1/c", // "c": [
    "/a~1b/1/c/0", // true,
    "/a~1b/1/c/1", // "x: {"
    "/a~1b/1/c", // ]
    "/a~1b/1", // },
    "/a~1b/2", // [
    "/a~1b/2/0", // 3
    "/a~1b/2", // ]
    "/a~1b", // ],
    "/d~0", // "d~": {}
    "", // }
  ]);
});
