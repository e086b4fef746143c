import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { getMessage } from "@platform/engine/base/thrown";
import { UserError, createUsageError } from "../base/errors.ts";

/** A circuit, or a problem, as a job is given it. */
export interface ReadCircuit {
  readonly format: "QISKIT_QPY" | "OPEN_QASM_V3" | "OPEN_QASM_V2" | "DIMOD_BQM";
  readonly input: Readonly<Record<string, unknown>>;
}

/** By value, a job has no more. */
const MAX_BYTES = MEGABYTE;
const QPY_MAGIC = "QISKIT";

/**
 * Reads a circuit: a text of OpenQASM 2 or 3, or a file of QPY; or a problem that dimod has serialized (.json).
 *
 * @throws UserError FILE_NOT_FOUND, INPUT_TOO_LARGE, INVALID_FILE
 */
export async function readCircuit(path: string): Promise<ReadCircuit> {
  const content = await readBytes(path);
  if (content.subarray(0, QPY_MAGIC.length).toString("latin1") === QPY_MAGIC)
    return { format: "QISKIT_QPY", input: toPubs(content.toString("base64")) };
  const text = content.toString("utf8");
  if (extname(path) === ".json") return { format: "DIMOD_BQM", input: { bqm: parseProblem(path, text) } };
  const version = /^\s*(?:\/\/[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*OPENQASM\s+(\d)/.exec(text)?.[1];
  if (version === "2") return { format: "OPEN_QASM_V2", input: toPubs(text) };
  if (version === "3") return { format: "OPEN_QASM_V3", input: toPubs(text) };
  throw new UserError(
    "INVALID_FILE",
    `${path} begins neither with OPENQASM 2 nor with OPENQASM 3, and is no QPY.`,
    {
      hint: "Begin it with 'OPENQASM 3.0;', or save it by qiskit.qasm3.dump or qiskit.qpy.dump.",
    },
  );
}

function toPubs(circuit: string): ReadCircuit["input"] {
  return { primitive: "sampler", shape: "registers", pubs: [{ circuit }] };
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new UserError("INPUT_TOO_LARGE", `${path} has more than 1 MB.`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw createUsageError(`${path} cannot be read: ${getMessage(error)}`);
  }
}

function parseProblem(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError("INVALID_FILE", `${path} is not JSON: ${getMessage(error)}`, { cause: error });
  }
}
