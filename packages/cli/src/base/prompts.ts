import { createInterruption } from "./errors.ts";
import { cleanText } from "./output.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Questions at the terminal. Each rejects with UserError INTERRUPTED on Ctrl-C. */
export interface Prompts {
  /** Asks for a line of text; `initial` can be edited. */
  readonly askText: (question: {
    readonly message: string;
    readonly initial?: string;
    /** Returns why the answer is refused, as a sentence, or undefined if it is accepted. */
    readonly check?: (answer: string) => string | undefined;
  }) => Promise<string>;
  /** Asks for a value, which must not be empty, without showing it. */
  readonly askSecret: (message: string) => Promise<string>;
  /** Returns the `value` of the chosen entry. */
  readonly choose: (message: string, choices: readonly Choice[], initial?: string) => Promise<string>;
}

const load = () => import("@clack/prompts");

/** Prompts on the terminal of the process. The library is loaded by the first question, to keep the start of other commands fast. */
export function createPrompts(): Prompts {
  return {
    askText: async ({ message, initial, check }) => {
      const { isCancel, text } = await load();
      const answer = await text({
        message,
        ...(initial === undefined ? {} : { initialValue: initial }),
        ...(check === undefined ? {} : { validate: (value: string) => check(value ?? "") }),
      });
      if (isCancel(answer)) throw createInterruption();
      return answer;
    },
    askSecret: async (message) => {
      const { isCancel, password } = await load();
      const answer = await password({
        message,
        validate: (value: string) => (value ? undefined : "Enter a value."),
      });
      if (isCancel(answer)) throw createInterruption();
      return answer;
    },
    choose: async (message, choices, initial) => {
      const { isCancel, select } = await load();
      const answer = await select({
        message,
        // Names of organisations are input from other users.
        options: choices.map(({ value, label, hint }) => ({
          value,
          label: cleanText(label),
          ...(hint === undefined ? {} : { hint: cleanText(hint) }),
        })),
        ...(initial === undefined ? {} : { initialValue: initial }),
      });
      if (isCancel(answer)) throw createInterruption();
      return answer;
    },
  };
}
