/** The command that starts a job, as the console shows it: what the program gets from the shell. */
import { expect, test } from "vitest";
import { toRunCommand } from "@platform/contract/snippets/run-command";
import { escapeUnseen } from "@platform/contract/snippets/texts";
import { HOSTILE } from "./snippet-programs.ts";
import { runOk } from "./tools.ts";

async function readArguments(command: string): Promise<readonly string[]> {
  const printed = await runOk(["sh", "-c", `platform() { printf '%s\\0' "$@"; }\n${command}`]);
  return printed.split("\0").slice(0, -1);
}

test("the command of a job gives the program what was asked for, whatever the input holds", async () => {
  const input = { data: { [HOSTILE]: HOSTILE }, params: { n: HOSTILE } };
  const command = toRunCommand("tsp", input);
  // A terminal would take these as keys.
  expect(command.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  const given = await readArguments(command);
  const [data, params] = [input.data, input.params].map((part) => escapeUnseen(JSON.stringify(part)));
  expect(given).toEqual(["run", "tsp", "--data", data, "--params", params]);
  expect([given[3], given[5]].map((part = "") => JSON.parse(part))).toEqual([input.data, input.params]);
  expect(await readArguments(toRunCommand("tsp", { params: {} }))).toEqual(["run", "tsp", "--params", "{}"]);
  const long = { data: { text: "ä".repeat(200_000) } };
  expect(await readArguments(toRunCommand("tsp", long))).toEqual(["run", "tsp", "--data-file", "data.json"]);
});
