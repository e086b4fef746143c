import { Type } from "typebox";
import type { Static } from "typebox";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { Nullable, StringEnum, Timestamp } from "../schemas.ts";

const OPERATES = { allows: "operator", scope: "platform" } as const;

/** What a series can show, and in which unit. */
export const SERIES_UNITS = {
  pending: "executions",
  running: "executions",
  started: "executions",
  finished: "executions",
  waitP50: "milliseconds",
  waitP95: "milliseconds",
  ranP95: "milliseconds",
} as const;
/** Name of a series. */
export type SeriesName = keyof typeof SERIES_UNITS;

const SeriesSchema = Type.Object(
  {
    step: Type.Integer({ description: "Seconds of a step" }),
    from: Timestamp("When the first step begins"),
    to: Timestamp("When the last one has ended"),
    series: Type.Array(
      Type.Object(
        {
          name: StringEnum(Object.keys(SERIES_UNITS) as SeriesName[], {
            description:
              "pending, running: mean of what was measured once a minute; pending without what is held. started, finished: how many in the step. waitP50, waitP95: from when an execution could have begun to its start, without those started again. ranP95: from the start to the end",
          }),
          unit: Type.String({ description: "executions or milliseconds" }),
          points: Type.Array(Type.Array(Nullable(Type.Number()), { minItems: 2, maxItems: 2 }), {
            description:
              "When the step began, in seconds since 1970, and the value; null: there was none. Steps of which nothing is known are left out",
          }),
        },
        { title: "Series", description: "One figure over time" },
      ),
      { description: "All of them" },
    ),
  },
  { title: "InstanceSeries", description: "What the platform did over time" },
);
/** What the platform did over time. */
export type InstanceSeries = Static<typeof SeriesSchema>;

const StorageSchema = Type.Object(
  {
    measuredAt: Timestamp("When it was measured"),
    kinds: Type.Array(
      Type.Object(
        {
          kind: Type.String({
            description:
              "archives, pool-files, results (above 1 MB, and files), uploads (that have begun): as often as they are named; objects: all stored content, equal content once; database-...: tables with their indexes",
          }),
          count: Type.Number({ description: "How many; of database-...: tables" }),
          bytes: Type.Number({ description: "What they take" }),
          retention: Type.String({ description: "For how long they are kept, in words" }),
        },
        { title: "StoredKind", description: "What is stored of one kind" },
      ),
      { description: "By kind" },
    ),
  },
  { title: "InstanceStorage", description: "What the platform stores" },
);
/** What the platform stores. */
export type InstanceStorage = Static<typeof StorageSchema>;

/** Operations of operators on figures of the instance. */
export const OPERATOR_FIGURES_API = {
  getSeries: {
    ...READS,
    ...OPERATES,
    path: "/operator/series",
    summary: "Show what the platform did over time",
    description:
      "Written once a minute from the feed of changes, and kept for eight days: what happened in the last minutes may not be in it yet. Lengths of time are at most a tenth off.",
    query: Type.Object({
      from: Type.Optional(Timestamp("Default: an hour before the end")),
      to: Type.Optional(Timestamp("Default: now")),
      step: Type.Optional(
        StringEnum(["60", "300", "3600"], {
          default: "60",
          description: "Seconds of a step, at most 1,500 of them; default 60",
        }),
      ),
    }),
    responses: { 200: { description: "The series", schema: SeriesSchema } },
  },
  getStorage: {
    ...READS,
    ...OPERATES,
    path: "/operator/storage",
    summary: "Show what the platform stores, by kind, and for how long",
    description: "Measured at most once a minute.",
    responses: { 200: { description: "By kind", schema: StorageSchema } },
  },
} as const satisfies OperationTable;
