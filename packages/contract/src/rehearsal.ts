import { Type } from "typebox";
import type { Static } from "typebox";
import { WaitingSchema } from "./execution.ts";
import { Nullable, StringEnum, Timestamp } from "./schemas.ts";

/** The preference of a start that only asks what a start would do, as in `Prefer: dry-run` (RFC 7240). */
export const DRY_RUN = "dry-run";

const Amount = (description: string) =>
  Type.String({ description: `${description}: a decimal number, exact`, examples: ["0.0125"] });

const QuotaSchema = Type.Object(
  {
    unit: StringEnum(["execution", "cpu-second"], { description: "What is counted" }),
    perMonth: Type.Number({ minimum: 0, description: "Units of each month" }),
    left: Type.Number({ minimum: 0, description: "Units that are left of them" }),
    renewsAt: Timestamp("When the month ends"),
  },
  { title: "RehearsedQuota", description: "The cap of the plan; absent: it has none" },
);

const CostSchema = Type.Object(
  {
    currency: Nullable(Type.String({ description: "ISO 4217 code" }), {
      description: "Null: every price of the plan is zero",
    }),
    perExecution: Amount("Price of an execution beyond the included units"),
    perCpuSecond: Amount("Price of a CPU-second beyond the included units"),
    includedLeft: Type.Number({
      minimum: 0,
      description:
        "Units of the month that are included in the plan and not used, as far as executions have ended",
    }),
    typical: Type.Optional(
      Amount(
        "What it costs with the CPU time that half of the last runs have not exceeded; absent where none are known",
      ),
    ),
    long: Type.Optional(Amount("The same of nine of ten of them")),
    most: Amount("What it costs if all its vCPUs are busy until its time limit"),
    quota: Type.Optional(QuotaSchema),
  },
  {
    title: "RehearsedCost",
    description: "What the execution costs by the plan of the subscription; absent: there is no plan",
  },
);

const RunsSchema = Type.Object(
  {
    typicalSeconds: Type.Number({ minimum: 0, description: "Half of them took no longer" }),
    longSeconds: Type.Number({ minimum: 0, description: "Nine of ten took no longer" }),
  },
  {
    title: "RehearsedRuns",
    description:
      "How long the last runs of this version have taken that the caller has started and that have succeeded; absent where none are known",
  },
);

/** The answer to a start that is a rehearsal: nothing was created. */
export const RehearsalSchema = Type.Object(
  {
    valid: Type.Boolean({
      description: "true: the same request without the preference would be accepted; otherwise it is refused",
    }),
    version: Type.String({ description: "MAJOR.MINOR.PATCH; local: the project of the local server" }),
    waiting: WaitingSchema,
    cost: Type.Optional(CostSchema),
    runs: Type.Optional(RunsSchema),
    resources: Type.Object(
      {
        cpu: Type.Number({ description: "vCPUs" }),
        memory: Type.Number({ description: "GB (1024^3 bytes)" }),
      },
      { title: "RehearsedResources", description: "What the execution needs of a worker" },
    ),
    timeoutSeconds: Type.Number({ description: "Longest run" }),
    startBy: Type.Optional(
      Timestamp("By when it must have begun if it is started now; absent: there is no such deadline"),
    ),
  },
  {
    title: "Rehearsal",
    description: "What a start would do, as of now: it may wait for another time and be refused later",
  },
);

/** The answer to a start that is a rehearsal. */
export type Rehearsal = Static<typeof RehearsalSchema>;
