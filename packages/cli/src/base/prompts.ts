import { createInterruption } from "./errors.ts";
import { cleanText } from "./output.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Questions to the person at the terminal; Ctrl-C at any of them ends the command. */
export interface Prompts {
  readonly askText: (question: {
    readonly message: string;
    readonly initial?: string;
    /** What is wrong with the answer, or undefined. */
    readonly check?: (answer: string) => string | undefined;
  }) => Promise<string>;
  readonly askSecret: (message: string) => Promise<string>;
  readonly choose: (message: string, choices: readonly Choice[], initial?: string) => Promise<string>;
}

const load = () => import("@clack/prompts");

/** Prompts on the process's terminal. The library is loaded by the first question. */
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
        // Names of organisations were written by others.
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
