import { parentPort } from "node:worker_threads";
import type { JsonForm, JsonQuestion } from "./json-form.ts";
import { scanFile } from "./scan-file.ts";

function answer(question: JsonQuestion): JsonForm | Error {
  try {
    return scanFile(question);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

parentPort?.on("message", (question: JsonQuestion) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer(question));
});
