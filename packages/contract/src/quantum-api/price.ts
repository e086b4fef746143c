import { Type } from "typebox";
import type { Static } from "typebox";
import { Nullable } from "../schemas.ts";

/** The largest amount that is sent as a number. */
export const MOST_AMOUNT = 999_999_999;

/** More digits behind the point are not kept. */
export const AMOUNT_DECIMALS = 9;

/** An amount of money as the platform writes it: a decimal string, since sums of binary fractions are not exact. */
export const Amount = (description: string) =>
  Type.String({
    pattern: "^(0|[1-9][0-9]*)([.][0-9]+)?$",
    description: `${description}, as a decimal number`,
    examples: ["0.0025"],
  });

/** A text that is such an amount as it is sent. */
export const AMOUNT_PATTERN = `^(0|[1-9][0-9]{0,8})([.][0-9]{1,${AMOUNT_DECIMALS}})?$`;

/** An amount of money as it is sent: a decimal string, or a number, whose shortest decimal text counts. */
export const GivenAmount = (description: string) =>
  Type.Union(
    [
      Type.String({
        pattern: AMOUNT_PATTERN,
        examples: ["0.0025"],
        description: "a decimal number of nine digits before and nine behind the point at most",
      }),
      Type.Number({ minimum: 0, maximum: MOST_AMOUNT }),
    ],
    { description: `${description}: a decimal string or a number, exact to a billionth` },
  );

/** Code of a currency, ISO 4217. */
export const Currency = Type.String({
  pattern: "^[A-Z]{3}$",
  description: "ISO 4217 code",
  examples: ["EUR"],
});

/** What jobs of a backend cost, as `describe` says it. */
export const DescribedPriceSchema = Type.Object(
  {
    currency: Currency,
    perJob: Type.Optional(GivenAmount("Of each job that completes")),
    perShot: Type.Optional(GivenAmount("Of each shot of a job that completes")),
    perSecond: Type.Optional(GivenAmount("Of each second that a job has run")),
  },
  { additionalProperties: false, title: "DescribedPrice", description: "What jobs of the backend cost" },
);
/** See `DescribedPriceSchema`. */
export type DescribedPrice = Static<typeof DescribedPriceSchema>;

const PriceSchema = Type.Object(
  {
    currency: Currency,
    per_job: Amount("Of each job that completes"),
    per_shot: Amount("Of each shot of a job that completes"),
    per_second: Amount("Of each second that a job has run"),
  },
  { title: "BackendPrice", description: "What jobs of the backend cost" },
);
/** What jobs of a backend cost, as the quantum API has it. */
export type BackendPrice = Static<typeof PriceSchema>;

/** The price of a backend; null: its jobs cost nothing. */
export const BackendPriceSchema = Nullable(PriceSchema, { description: "Null: its jobs cost nothing" });

/** What a job would cost, and whether its backend would run it: the result of a dry run. */
export interface QuantumEstimate {
  /** Whether the backend would run it; a job that it refuses has failed, also as a dry run. */
  readonly valid: boolean;
  /** What the backend says besides. */
  readonly warnings: readonly string[];
  /** How long it would run; null: the backend does not say. */
  readonly seconds: number | null;
  /** What it would cost, as a decimal number; null: it has a price by the second, and the backend does not say how long it would run. */
  readonly cost: string | null;
  /** What it cannot exceed: with all seconds of its time limit. */
  readonly most_cost: string;
  /** ISO 4217 code; null: it costs nothing. */
  readonly currency: string | null;
  /** Jobs that wait before it; null: the backend is not there any more. */
  readonly queue_position: number | null;
}
