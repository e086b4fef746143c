import { FAILURE_WORDS } from "@platform/contract/words.gen";

/** What to do about a code where the code is at hand; typed so that none is forgotten. */
const ADVICE: Readonly<Record<keyof typeof FAILURE_WORDS, string>> = {
  EXECUTION_ERROR:
    "The log has the traceback. Fix the code and save it, or change the input; then run it again.",
  CONNECTION_ERROR:
    "Check that the host is up, and that network in platform.json allows it. Then run it again.",
  STARTUP_ERROR:
    "The import fails. Fix it, or add what is missing to requirements.txt: it is reloaded when you save.",
  NOT_STARTED: "The input is not at fault. The terminal of platform serve says why; then run it again.",
  START_DEADLINE_EXCEEDED: "Nothing has run. Run it again with a later deadline (startWithin).",
  INVALID_INPUT: "Change what the detail names, and run it again.",
  INVALID_RESULT: "Return what JSON has: objects, arrays, texts, finite numbers. Convert other values first.",
  RESULT_TOO_LARGE: "Write large content as a file into OUTPUT_DIRECTORY, and return what is small.",
  RESULT_NOT_STORED:
    "The code has run, but its result is lost. See whether the disk is full, and run it again.",
  OUT_OF_MEMORY: 'Raise "memory" below "resources" in platform.json, or give it less to do.',
  TIMEOUT: 'Raise "timeoutSeconds" in platform.json, or the limit of the policy, or give it less to do.',
  CANCELLED: "It was asked to end. Run it again if that was not meant.",
  DATA_REFERENCE_UNAVAILABLE:
    "The file is not in the folder of the data pools any more. Name one that is there.",
  WORKER_LOST:
    "The process was lost while the code may have been running, or a fault was injected (--fault). Run it again.",
};

/** What a code means, and what to do about it; null: the service has chosen it itself. */
export function explainLocalCode(code: string): { readonly meaning: string; readonly advice: string } | null {
  return isKnown(code) ? { meaning: FAILURE_WORDS[code], advice: ADVICE[code] } : null;
}

function isKnown(code: string): code is keyof typeof FAILURE_WORDS {
  return Object.hasOwn(FAILURE_WORDS, code);
}
