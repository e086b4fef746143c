import { createReadStream } from "node:fs";
import { extname, resolve } from "node:path";
import { deflateSync } from "node:zlib";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { isRecord } from "@platform/engine/base/json";
import { getCode, getMessage } from "@platform/engine/base/thrown";
import { UserError } from "../base/errors.ts";

/** A circuit, or a problem, as a job is given it. */
export interface ReadCircuit {
  readonly format: "QISKIT_QPY" | "OPEN_QASM_V3" | "OPEN_QASM_V2" | "DIMOD_BQM";
  /** JSON text of an object; that of a problem has its numbers as they were written. */
  readonly inputText: string;
}

/** By value, a job has no more. */
const MAX_BYTES = MEGABYTE;
/** QPY is compressed before it is sent; backends read no more of it. */
const MAX_QPY_BYTES = 64 * MEGABYTE;
const QPY_MAGIC = "QISKIT";

/**
 * Reads a circuit: a text of OpenQASM 2 or 3, or a file of QPY; or a problem that dimod has serialized (.json). `path` is relative to the folder.
 *
 * @throws UserError INPUT_TOO_LARGE, INVALID_FILE, and the error of the system where the file cannot be read
 */
export async function readCircuit(directory: string, path: string): Promise<ReadCircuit> {
  const content = await readBytes(resolve(directory, path), path).catch((error: unknown) => {
    // The error of Node.js does not name it.
    if (getCode(error) !== "EISDIR") throw error;
    throw new UserError("INVALID_FILE", `${path} is a folder, not the file of a circuit.`, { cause: error });
  });
  const circuit = parseCircuit(path, content);
  if (circuit.inputText.length > MAX_BYTES) throw refuseSize(path);
  return circuit;
}

function parseCircuit(path: string, content: Buffer): ReadCircuit {
  if (isQpy(content))
    return { format: "QISKIT_QPY", inputText: toPubs(deflateSync(content).toString("base64")) };
  const text = content.toString("utf8").replace(/^\uFEFF/u, "");
  if (extname(path).toLowerCase() === ".json")
    return { format: "DIMOD_BQM", inputText: `{"bqm":${checkProblem(path, text)}}` };
  const version = /^OPENQASM\s+(\d)/u.exec(skipComments(text))?.[1];
  if (version === "2") return { format: "OPEN_QASM_V2", inputText: toPubs(text) };
  if (version === "3") return { format: "OPEN_QASM_V3", inputText: toPubs(text) };
  throw new UserError(
    "INVALID_FILE",
    `${path} begins neither with OPENQASM 2 nor with OPENQASM 3, and is no QPY.`,
    {
      hint: "Begin it with 'OPENQASM 3.0;', or save it by qiskit.qasm3.dump or qiskit.qpy.dump. A problem for an annealer is a file .json.",
    },
  );
}

/** No pattern: many comments can be read as one in ever more ways. */
function skipComments(text: string): string {
  let rest = text.trimStart();
  for (let end = findCommentEnd(rest); end > 0; end = findCommentEnd(rest))
    rest = rest.slice(end).trimStart();
  return rest;
}

/** Where the comment ends that the text begins with; 0: it begins with none, or with one that does not end. */
function findCommentEnd(text: string): number {
  if (text.startsWith("//")) return text.indexOf("\n") + 1;
  const end = text.startsWith("/*") ? text.indexOf("*/", 2) : -1;
  return end < 0 ? 0 : end + 2;
}

function toPubs(circuit: string): string {
  return JSON.stringify({ primitive: "sampler", shape: "registers", pubs: [{ circuit }] });
}

const isQpy = (content: Buffer): boolean =>
  content.subarray(0, QPY_MAGIC.length).toString("latin1") === QPY_MAGIC;

const refuseSize = (path: string): UserError =>
  new UserError("INPUT_TOO_LARGE", `${path} has more than the 1 MB that a job is given.`, {
    hint: "Split it into several jobs, or save a circuit as QPY, which is sent compressed.",
  });

/** Piece by piece: a file may be larger than it says, or have no end. */
async function readBytes(file: string, path: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of createReadStream(file)) {
    parts.push(part as Buffer);
    size += (part as Buffer).length;
    const [first = Buffer.alloc(0)] = parts;
    if (size > (isQpy(first) ? MAX_QPY_BYTES : MAX_BYTES)) throw refuseSize(path);
  }
  return Buffer.concat(parts);
}

function checkProblem(path: string, text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError("INVALID_FILE", `${path} is not JSON: ${getMessage(error)}`, { cause: error });
  }
  if (isRecord(value)) return text.trim();
  throw new UserError("INVALID_FILE", `${path} has no problem: it must contain a JSON object.`, {
    hint: "Save it by json.dump(bqm.to_serializable(), file).",
  });
}
