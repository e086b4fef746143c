import type { CommandContext } from "./context.ts";

interface OptionBase {
  /** Short form: one letter, without the dash. */
  readonly short?: string;
  readonly description: string;
}

interface FlagOption extends OptionBase {
  readonly kind: "flag";
}

/** An option with a string value. */
export interface TextOption extends OptionBase {
  readonly kind: "text";
  readonly placeholder: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** An option with a number from `minimum` to `maximum`, both included. */
export interface NumberOption extends OptionBase {
  readonly kind: "number";
  readonly placeholder: string;
  readonly default?: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly isInteger?: boolean;
}

/** An option of a command. */
export type Option = FlagOption | TextOption | NumberOption;

interface Argument {
  readonly description: string;
  readonly required: boolean;
  /** The last one may be given several times. */
  readonly isList?: true;
}

/** Options by their name in camelCase: `dataFile` is `--data-file`. */
export type Options = Readonly<Record<string, Option>>;
/** Positional arguments by name, in the order of the command line. */
export type Arguments = Readonly<Record<string, Argument>>;

type OptionValue<O extends Option> = O extends { readonly kind: "flag" }
  ? boolean
  : O extends { readonly kind: "text" }
    ? O extends { readonly default: string }
      ? string
      : string | undefined
    : O extends { readonly default: number }
      ? number
      : number | undefined;

type OptionValues<O extends Options> = { readonly [K in keyof O]: OptionValue<O[K]> };

type ArgumentValues<A extends Arguments> = {
  readonly [K in keyof A]: A[K] extends { readonly isList: true }
    ? readonly string[]
    : A[K] extends { readonly required: true }
      ? string
      : string | undefined;
};

/** Outcome of a command that ran to its end. */
export interface CommandResult {
  /** The value that `--json` prints; undefined if the command has written its JSON itself (as a stream). */
  readonly json: unknown;
  /** False: exit code 1. */
  readonly succeeded: boolean;
  /** Replaces `JSON.stringify` for values that it would change. */
  readonly stringify?: (json: unknown) => string;
}

/** A command. Parsing, help and reference are derived from it. */
export interface CommandDeclaration<A extends Arguments, O extends Options> {
  /** One word, or two: a group of commands and one of them. */
  readonly name: string;
  /** Runs where its group is called without a command. */
  readonly isDefault?: true;
  /** One line, without a period. */
  readonly summary: string;
  /** Paragraphs for the help and the reference. */
  readonly description: readonly string[];
  readonly arguments: A;
  readonly options: O;
  /** Groups of options that exclude each other. */
  readonly exclusive?: readonly (readonly (keyof O & string)[])[];
  readonly examples: readonly { readonly command: string; readonly comment: string }[];
  readonly run: (
    context: CommandContext,
    input: { readonly arguments: ArgumentValues<A>; readonly options: OptionValues<O> },
  ) => Promise<CommandResult>;
}

/** A declaration with its input types erased, as used by the interpreter and the reference. */
export interface Command extends Omit<CommandDeclaration<Arguments, Options>, "run" | "exclusive"> {
  readonly exclusive: readonly (readonly string[])[];
  readonly run: (
    context: CommandContext,
    input: {
      readonly arguments: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
    },
  ) => Promise<CommandResult>;
}

/** Commands of one subject, which the help shows together. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Checks the types of a declaration and erases them. This is safe because the interpreter parses every value by the same declaration. */
export function defineCommand<const A extends Arguments, const O extends Options>(
  declaration: CommandDeclaration<A, O>,
): Command {
  return {
    ...declaration,
    exclusive: declaration.exclusive ?? [],
    run: (context, input) =>
      declaration.run(context, {
        arguments: input.arguments as ArgumentValues<A>,
        options: input.options as OptionValues<O>,
      }),
  };
}

/** `dataFile` -> `--data-file`. */
export function formatFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
