import type { ProjectKind } from "@platform/contract/project";
import { SURVEY } from "@platform/engine/store/survey";
import type { QueuePlace } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { classesOf, isQueued } from "./queue-rows.ts";

const headOf = (kind: ProjectKind) => {
  const [from, to] = classesOf(kind);
  return `(select e.*, row_number() over () - 1 as ahead from (
      select e.priority, e.rank, e.id from execution e where ${isQueued("e")} and e.priority between ${from} and ${to}
      order by e.priority desc, e.rank, e.id limit ${SURVEY.most}
    ) e)`;
};

/** `ExecutionStore.surveyQueue` for PostgreSQL. Reads the head of the queue's index. */
export async function surveyQueue(database: Pick<Database, "query">): Promise<readonly QueuePlace[]> {
  const places = await database.query<QueuePlace>({
    name: "execution-survey-queue",
    text: `select priority, rank::float8 as rank, id, ahead::int as ahead from (
        ${headOf("backend")} union all ${headOf("service")}
      ) e where ahead < ${SURVEY.all} or ahead % ${SURVEY.step} = 0`,
    idempotent: true,
  });
  // In this order as they come, which PostgreSQL does not promise: sorting is switched off on these connections.
  return places.toSorted((a, b) => a.ahead - b.ahead);
}
