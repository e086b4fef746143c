import { resolve } from "node:path";
import { defineCommand } from "../base/command.ts";
import { describeFailure, getFinalStatus } from "../jobs/job.ts";
import { readJobResult } from "../jobs/job-result.ts";
import { openSession } from "../base/session.ts";
import { writeOutputFile } from "../base/files.ts";

/** `platform result`: does not wait. Fails when the job did not succeed. */
export const resultCommand = defineCommand({
  name: "result",
  summary: "Print the result of a job",
  description: [
    "Prints the service's output as JSON, or writes it to a file. With --json, prints the whole response with metadata and state.",
    "The exit code is 1 if the job is not finished or did not succeed.",
  ],
  arguments: { id: { description: "Id of the job", required: true } },
  options: {
    output: { kind: "text", short: "o", placeholder: "file", description: "Write the output to this file" },
  },
  examples: [
    { command: "platform result 0198c1de-7a53-7000-8000-000000000000", comment: "Print on standard output" },
    {
      command: "platform result 0198c1de-7a53-7000-8000-000000000000 -o result.json",
      comment: "Write to a file",
    },
  ],
  run: async (context, { arguments: { id }, options }) => {
    const { answer, exact, stringify } = await readJobResult(await openSession(context), id);
    const whole = { json: exact, stringify };
    if (getFinalStatus(answer) !== "SUCCEEDED") {
      context.output.note(describeFailure(answer));
      return { ...whole, succeeded: false };
    }
    const text = stringify(exact["result"] ?? {});
    if (options.output === undefined) {
      context.output.print(text);
      return { ...whole, succeeded: true };
    }
    const path = resolve(context.directory, options.output);
    await writeOutputFile(path, `${text}\n`);
    context.output.print(`Wrote ${path}.`);
    return { json: { id, path }, succeeded: true };
  },
});
