import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCircuit } from "./read-circuit.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-circuit-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function read(name: string, content: string | Buffer) {
  await writeFile(join(directory, name), content);
  const { format, inputText } = await readCircuit(directory, name);
  return { format, inputText, input: JSON.parse(inputText) as unknown };
}

test("the format is that of the content", async () => {
  const two = 'OPENQASM 2.0;\ninclude "qelib1.inc";';
  expect(await read("a.qasm", two)).toMatchObject({
    format: "OPEN_QASM_V2",
    input: { pubs: [{ circuit: two }] },
  });
  expect(await read("b.txt", "// of Bell\n/* 1964 */ OPENQASM 3.0;")).toMatchObject({
    format: "OPEN_QASM_V3",
  });
  const qpy = Buffer.from("QISKIT\x0d\x02");
  expect(await read("c", qpy)).toMatchObject({
    format: "QISKIT_QPY",
    input: { pubs: [{ circuit: deflateSync(qpy).toString("base64") }] },
  });
  expect(await read("d.JSON", '\uFEFF{"bias": 12345678901234567890} ')).toMatchObject({
    format: "DIMOD_BQM",
    inputText: '{"bqm":{"bias": 12345678901234567890}}',
  });
});

test("a file of QPY may be larger than what is sent of it", async () => {
  const large = Buffer.concat([Buffer.from("QISKIT"), Buffer.alloc(3_000_000)]);
  expect((await read("large.qpy", large)).inputText.length).toBeLessThan(10_000);
  await expect(
    read("random.qpy", Buffer.concat([Buffer.from("QISKIT"), randomBytes(1_100_000)])),
  ).rejects.toMatchObject({
    code: "INPUT_TOO_LARGE",
  });
});

test("many comments in front of no circuit are read in no time", async () => {
  await expect(read("comments.qasm", "/* a */ ".repeat(10_000))).rejects.toMatchObject({
    code: "INVALID_FILE",
  });
});

test("what is no circuit is said to be none", async () => {
  await expect(read("e.qasm", "qubit q;")).rejects.toMatchObject({ code: "INVALID_FILE" });
  await expect(read("f.json", "{")).rejects.toMatchObject({ code: "INVALID_FILE" });
  await expect(read("g.qasm", "x".repeat(1_100_000))).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
  await expect(read("h.json", "[]")).rejects.toMatchObject({ code: "INVALID_FILE" });
  await expect(readCircuit(directory, ".")).rejects.toMatchObject({
    code: "INVALID_FILE",
    message: ". is a folder, not the file of a circuit.",
  });
  await expect(readCircuit(directory, "none.qasm")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(readCircuit(directory, "/dev/zero")).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
});
