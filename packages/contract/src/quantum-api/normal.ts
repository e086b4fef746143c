import { Type } from "typebox";
import type { Static, TSchema } from "typebox";
import { Nullable } from "../schemas.ts";

/** By texts of bits as Qiskit writes them: the first bit stands last, and registers are not set apart. */
const byBits = <T extends TSchema>(value: T, description: string) =>
  Type.Record(Type.String(), value, {
    description: `${description}, by its bits: the first one stands last`,
  });

const NormalCircuitSchema = Type.Object(
  {
    name: Nullable(Type.String(), { description: "Null: it has none" }),
    index: Type.Array(Type.Integer(), {
      description: "The place of its parameters among the sets that were sent; empty: it has one set or none",
    }),
    shots: Nullable(Type.Integer(), { description: "Null: nothing was measured, or it is not known" }),
    counts: Type.Optional(byBits(Type.Integer(), "How often each outcome was measured")),
    probabilities: Type.Optional(
      byBits(Type.Number(), "The probability of each outcome, where the backend has no counts"),
    ),
    amplitudes: Type.Optional(
      byBits(Type.Array(Type.Number()), "The amplitude of each state, real and imaginary part"),
    ),
    evs: Type.Optional(
      Type.Unsafe<unknown>({ description: "Expectation values: a number, or lists of them" }),
    ),
    stds: Type.Optional(Type.Unsafe<unknown>({ description: "Their standard errors, likewise" })),
  },
  { title: "NormalCircuit", description: "What has become of one circuit with one set of parameters" },
);
/** What has become of one circuit, in the normal form. */
export type NormalCircuit = Static<typeof NormalCircuitSchema>;

const NormalSampleSchema = Type.Object(
  {
    values: Type.Record(Type.String(), Type.Number(), { description: "The value of each variable" }),
    energy: Type.Number({ description: "Of these values" }),
    occurrences: Type.Integer({ description: "How often they were found" }),
  },
  { title: "NormalSample", description: "What an annealer has found" },
);
/** What an annealer has found, in the normal form. */
export type NormalSample = Static<typeof NormalSampleSchema>;

/** The result of a job in one form, whatever form it was asked for in. */
export const NormalResultSchema = Type.Object(
  {
    circuits: Type.Optional(
      Type.Array(NormalCircuitSchema, { description: "Of a backend of circuits, in the order of the job" }),
    ),
    samples: Type.Optional(
      Type.Array(NormalSampleSchema, { description: "Of an annealer, the least energy first" }),
    ),
    code: Type.Optional(Type.String({ description: "Of a job that has not completed: why" })),
    detail: Type.Optional(Type.String({ description: "The same as a sentence" })),
  },
  { title: "NormalResult", description: "What a job has found out, whatever form it was sent in" },
);
/** The result of a job in the normal form. */
export type NormalResult = Static<typeof NormalResultSchema>;
