import { resolve } from "node:path";
import { POLICIES_API } from "@platform/contract/platform-api/policies";
import type { ServicePolicy } from "@platform/contract/policy";
import { isRecord } from "@platform/engine/base/json";
import type { CommandContext } from "../base/context.ts";
import { createUsageError, UserError } from "../base/errors.ts";
import { describeFields } from "../base/explain-error.ts";
import { readIfThere } from "../base/files.ts";

/** Where a policy is read from: its file, or - for standard input; the option that names it. */
export interface PolicySource {
  readonly from: string;
  readonly option: string;
}

/** A JSON object, of which the platform says what is wrong with it. @throws UserError */
export async function readPolicyFile(
  context: Pick<CommandContext, "directory" | "readStandardInput">,
  { from, option }: PolicySource,
): Promise<Readonly<Record<string, unknown>>> {
  const text =
    from === "-" ? await context.readStandardInput() : await readIfThere(resolve(context.directory, from));
  if (text === null) throw createUsageError(`The file '${from}' of ${option} does not exist.`);
  const policy = parse(text);
  if (isRecord(policy)) return policy;
  throw createUsageError("The policy is not a JSON object.", 'Pass one such as {"timeoutSeconds": 600}.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The policy, judged by the schema of the request that sets one, with the texts of its answer. @throws UserError INVALID_INPUT */
export async function checkPolicy(policy: unknown): Promise<ServicePolicy> {
  // Loaded on demand: most commands need no validator.
  const { createBodyCheck } = await import("@platform/engine/http/body-check");
  const checked = createBodyCheck(POLICIES_API.putPolicy.body)({ revision: 0, policy });
  if (checked.isValid) return checked.value.policy;
  const detail = checked.errors.map(({ path, message }) => `body${path} ${message}`).join(" ");
  const { text, details } = describeFields(detail, checked.errors);
  throw new UserError("INVALID_INPUT", text, { details });
}
