import type { CommandContext } from "./context.ts";

interface OptionBase {
  /** One letter, for `-d`. */
  readonly short?: string;
  readonly description: string;
}

interface FlagOption extends OptionBase {
  readonly kind: "flag";
}

export interface TextOption extends OptionBase {
  readonly kind: "text";
  readonly placeholder: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

export interface NumberOption extends OptionBase {
  readonly kind: "number";
  readonly placeholder: string;
  readonly default?: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly isInteger?: boolean;
}

export type Option = FlagOption | TextOption | NumberOption;

interface Argument {
  readonly description: string;
  readonly required: boolean;
}

/** Name in camelCase -> option; `dataFile` becomes `--data-file`. */
export type Options = Readonly<Record<string, Option>>;
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
  readonly [K in keyof A]: A[K] extends { readonly required: true } ? string : string | undefined;
};

/** What a command leaves: the one JSON value of `--json`, and whether what it was asked for came true. */
export interface CommandResult {
  /** Undefined: the command has written its JSON itself (streams). */
  readonly json: unknown;
  readonly succeeded: boolean;
  /** Writes `json` where `JSON.stringify` would change it. */
  readonly stringify?: (json: unknown) => string;
}

export interface CommandDeclaration<A extends Arguments, O extends Options> {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Paragraphs of the help and of the reference. */
  readonly description: readonly string[];
  readonly arguments: A;
  readonly options: O;
  /** Groups of options of which only one may be given. */
  readonly exclusive?: readonly (readonly (keyof O & string)[])[];
  readonly examples: readonly { readonly command: string; readonly comment: string }[];
  readonly run: (
    context: CommandContext,
    input: { readonly arguments: ArgumentValues<A>; readonly options: OptionValues<O> },
  ) => Promise<CommandResult>;
}

/** A declaration whose input types are sealed in: what the interpreter and the reference see. */
export interface Command extends Omit<CommandDeclaration<Arguments, Options>, "run" | "exclusive"> {
  readonly exclusive: readonly (readonly string[])[];
  readonly run: (
    context: CommandContext,
    input: {
      readonly arguments: Readonly<Record<string, string | undefined>>;
      readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
    },
  ) => Promise<CommandResult>;
}

/** Checks a declaration's types and seals them: the interpreter parses every value by the same declaration. */
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
