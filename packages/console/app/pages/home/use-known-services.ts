import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import type { AnswerOf } from "../../api/client.ts";
import { judgeServices } from "./known-services.ts";

/** As many as the platform answers at once. */
const MANY = q("listServices", { query: { limit: MAX_PAGE_SIZE } });
const INTERNAL = q("listServices", { query: { publication: "internal", limit: 1 } });
const OFFERED = q("listServices", { query: { publication: "marketplace", limit: 1 } });

/** What the first steps ask of the services: more is read than the newest only where those do not say it, and there are more. */
export function useKnownServices(newest: AnswerOf<"listServices">) {
  const known = judgeServices(newest, undefined, [undefined]);
  const forLive = { isActive: known.isAnyLive === undefined, refresh: REFRESH_MS.list };
  const forPublished = { isActive: known.isAnyPublished === undefined, refresh: REFRESH_MS.list };
  const many = useFetched(MANY, forLive).data;
  const published = [useFetched(INTERNAL, forPublished).data, useFetched(OFFERED, forPublished).data];
  return judgeServices(newest, many, published);
}
