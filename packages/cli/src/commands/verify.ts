import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { RECEIPT_KEYS_PATH } from "@platform/contract/receipt";
import { getMessage } from "@platform/engine/base/thrown";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { readIfThere } from "../base/files.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { Comparison } from "../receipts/compare-content.ts";
import { readUnverified } from "../receipts/read-unverified.ts";
import type { VerifiedReceipt } from "../receipts/verify-receipt.ts";

const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `platform verify`: checks a receipt, and whether files are what it names. With a file of keys it sends nothing. */
export const verifyCommand = defineCommand({
  name: "verify",
  summary: "Verify the receipt of an execution",
  description: [
    "A receipt (GET {id}/receipt) is a signed statement: which version an execution ran, with which input and result, when, and what it used. This command checks the signature, and whether the files that you have are those of the receipt.",
    "With --jwks FILE nothing is sent. For the receipt of a job of your own, --jwks may be left out: the keys are then those of its issuer. For a file it may not: whoever made the file could name keys of their own.",
    "The exit code is 1 if the signature is not right, or a file is not that of the receipt.",
  ],
  arguments: {
    receipt: {
      description: "File with the receipt (the answer, or its JWS alone), or the id of a job",
      required: true,
    },
  },
  options: {
    jwks: {
      kind: "text",
      placeholder: "file or URL",
      description: `Keys of receipts: ${RECEIPT_KEYS_PATH} of the gateway, or a copy of it`,
    },
    input: {
      kind: "text",
      placeholder: "file",
      description: "Body of the start, as it was sent, to be compared",
    },
    result: {
      kind: "text",
      placeholder: "file",
      description: "Answer with the result as it was received, or a file of the result, to be compared",
    },
  },
  examples: [
    {
      command: "platform verify receipt.json --jwks receipt-keys.json --result result.json",
      comment: "Without a network",
    },
    { command: "platform verify 0198c1de-7a53-7000-8000-000000000000", comment: "The receipt of a job" },
  ],
  run: async (context, { arguments: given, options }) => {
    const { verifyReceipt } = await import("../receipts/verify-receipt.ts");
    const { compareInput, compareResult } = await import("../receipts/compare-content.ts");
    const { readKeys } = await import("../receipts/read-keys.ts");
    const { text, isOfJob } = await readReceipt(context, given.receipt);
    const keys = await readKeys(context, options.jwks ?? findKeysUrl(text, isOfJob));
    const verified = verifyReceipt(text, keys);
    const comparisons = [
      ...(options.input === undefined
        ? []
        : [compareInput(verified.claims, options.input, await readContent(context, options.input))]),
      ...(options.result === undefined
        ? []
        : [compareResult(verified.claims, options.result, await readContent(context, options.result))]),
    ];
    printReceipt(context, verified);
    for (const comparison of comparisons) printComparison(context, comparison);
    const succeeded = comparisons.every(({ matches }) => matches !== null);
    return { json: { valid: true, ...verified, comparisons }, succeeded };
  },
});

interface ReadReceipt {
  readonly text: string;
  /** It comes from the platform itself, over an authenticated connection. */
  readonly isOfJob: boolean;
}

async function readReceipt(context: CommandContext, named: string): Promise<ReadReceipt> {
  const text = await readIfThere(resolve(context.directory, named));
  if (text !== null) return { text, isOfJob: false };
  if (!IS_ID.test(named))
    throw new UserError("RECEIPT_NOT_FOUND", `There is no file '${named}', and it is not the id of a job.`);
  const { client } = await openSession(context);
  const { receipt } = await client.getJobReceipt({ params: { id: named } });
  return { text: receipt, isOfJob: true };
}

/** @throws UserError USAGE */
function findKeysUrl(text: string, isOfJob: boolean): string {
  const url = describeKeysUrl(text);
  if (isOfJob && url !== null) return url;
  throw createUsageError(
    "--jwks is missing: a receipt does not prove by itself who signed it.",
    url === null ? undefined : `If you trust its issuer: --jwks ${cleanText(url)}`,
  );
}

/** Where the issuer has its keys, as the receipt says, which nobody has verified yet. */
function describeKeysUrl(text: string): string | null {
  try {
    const { origin, protocol } = new URL(String(readUnverified(text)["iss"]));
    return protocol === "https:" || protocol === "http:" ? `${origin}${RECEIPT_KEYS_PATH}` : null;
  } catch {
    return null;
  }
}

async function readContent({ directory }: CommandContext, path: string): Promise<Uint8Array> {
  try {
    return await readFile(resolve(directory, path));
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `The file '${path}' cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

function printReceipt({ output }: CommandContext, { claims, kid }: VerifiedReceipt): void {
  const { iss, iat, ...rest } = claims;
  output.print(`Signature  ${output.paint("green", "valid")}, by ${cleanText(iss)} (key ${cleanText(kid)})`);
  output.print(`Signed     ${new Date(iat * 1_000).toISOString()}`);
  for (const [name, value] of Object.entries(rest)) {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    output.print(`  ${name}: ${cleanText(text)}`);
  }
}

function printComparison({ output }: CommandContext, comparison: Comparison): void {
  const { what, file, matches, digest, expected } = comparison;
  const name = what === "input" ? "Input    " : "Result   ";
  if (matches !== null) {
    const ofFile = matches === what ? "" : `, the file ${cleanText(matches)} of the result`;
    output.print(`${name}  ${output.paint("green", "matches")}: ${file}${ofFile}`);
    return;
  }
  const said = expected === null ? "the receipt names none" : `the receipt says ${expected}`;
  output.print(`${name}  ${output.paint("red", "differs")}: ${file} is ${digest}, ${said}`);
}
