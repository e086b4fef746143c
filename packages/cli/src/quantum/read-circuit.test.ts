import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCircuit } from "./read-circuit.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-circuit-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function read(name: string, content: string | Buffer) {
  const path = join(directory, name);
  await writeFile(path, content);
  return await readCircuit(path);
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
    input: { pubs: [{ circuit: qpy.toString("base64") }] },
  });
  expect(await read("d.json", '{"num_variables": 2}')).toEqual({
    format: "DIMOD_BQM",
    input: { bqm: { num_variables: 2 } },
  });
});

test("what is no circuit is said to be none", async () => {
  await expect(read("e.qasm", "qubit q;")).rejects.toMatchObject({ code: "INVALID_FILE" });
  await expect(read("f.json", "{")).rejects.toMatchObject({ code: "INVALID_FILE" });
  await expect(read("g.qasm", "x".repeat(1_100_000))).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
  await expect(readCircuit(join(directory, "none.qasm"))).rejects.toThrow("cannot be read");
});
