import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLargeLists } from "./large-lists.ts";

/** The whole text that is shown of a large result, of which no more was read than its first bytes to know what it is, and these once. */
async function show(text: string) {
  const stored = Buffer.from(text);
  let read = 0;
  const find = createLargeLists({
    read: async (_hash, { start, end }) => {
      read += end - start;
      // In small parts: what is looked for may stand in two of them.
      const parts = [...stored.subarray(start, end)].map((byte) => Buffer.from([byte]));
      return Readable.from(parts);
    },
  });
  const name = { hash: "a".repeat(64), bytes: stored.length };
  const { bytes } = await find(name);
  const readFirst = read;
  expect(readFirst).toBeLessThan(12);
  const content = await find(name);
  expect(read).toBe(readFirst);
  const parts: Uint8Array[] = [];
  for await (const part of await content.open({ start: 0, end: content.bytes }))
    parts.push(part as Uint8Array);
  const shown = Buffer.concat(parts).toString();
  expect(shown).toHaveLength(bytes);
  return shown;
}

test("a large list is the result of the job as it is, as a small one", async () => {
  expect(await show('{"value": [{"a,b":"\\",]}"},[1,2],{}]}')).toBe('[{"a,b":"\\",]}"},[1,2],{}]');
});

test.each(['{"value":[1,2,3]}', '{"value":[1],"more":2}', '{"value":{"a":[1]}}', '{"counts":{}}', "{}"])(
  "%s stays as it is",
  async (text) => expect(await show(text)).toBe(text),
);

test("a part of a large list is one of what is shown", async () => {
  const stored = Buffer.from('{"value": [10,20]}');
  const find = createLargeLists({
    read: async (_hash, { start, end }) =>
      Readable.from([stored.subarray(start, end)], { objectMode: false }),
  });
  const content = await find({ hash: "b".repeat(64), bytes: stored.length });
  const [part] = await (await content.open({ start: 1, end: 3 })).toArray();
  expect(String(part)).toBe("10");
});
