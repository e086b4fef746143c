import { LIMIT_SURVEY } from "@platform/engine/store/limit-line";
import type { LimitLine } from "@platform/engine/store/limit-line";
import type { Database } from "../../postgres/database.ts";
import { UNLIMITED, describeLimits, isLimited } from "./limited.ts";

const SURVEY_LIMITS = `with recursive ${describeLimits("true")}
  select waiting.limit_key as "limitKey", waiting.owner_id as "ownerId", nullif(waiting.of_service, ${UNLIMITED}) as "ofService",
    nullif(waiting.of_owner, ${UNLIMITED}) as "ofOwner", waiting.taken, waiting.taken_by_owner as "takenByOwner", of_line.held, of_line."firstIds"
  from (select * from waiting limit ${LIMIT_SURVEY.lines}) waiting cross join lateral (
    select count(*)::int as held, coalesce(array_agg(e.id) filter (where e.number <= ${LIMIT_SURVEY.ids}), '{}') as "firstIds" from (
      select e.id, row_number() over () as number from (
        select e.id from execution e where ${isLimited("e")} and e.limit_key = waiting.limit_key and e.owner_id = waiting.owner_id
        order by e.id limit ${LIMIT_SURVEY.counted}
      ) e
    ) e
  ) of_line`;

/** `ExecutionStore.surveyLimits` for PostgreSQL. */
export async function surveyLimits(database: Pick<Database, "query">): Promise<readonly LimitLine[]> {
  return await database.query<LimitLine>({
    name: "execution-survey-limits",
    text: SURVEY_LIMITS,
    idempotent: true,
  });
}
