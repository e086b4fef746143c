import type { Listing } from "@platform/contract/platform-api/marketplace";
import { DRY_RUN } from "@platform/contract/rehearsal";
import { explainError } from "../../api/explain-error.ts";
import { q, useFetched } from "../../api/queries.ts";
import { useRefusal } from "../../ui/can.tsx";
import { showJson } from "../../util/show-json.ts";

interface Judged {
  readonly serviceKey: string;
  /** null: there is none to judge by. */
  readonly version: string | null;
  readonly example: Listing["exampleInput"];
}

/**
 * What a version refuses of the example that is saved, a sentence; null: nothing. The platform says it by a rehearsal of a start: schemas are
 * their authors', and are not run here.
 */
export function useExampleFault({ serviceKey, version, example }: Judged): string | null {
  const refusal = useRefusal("startJob");
  const { error } = useFetched(
    q("startJob", {
      query: { serviceKey, version: version ?? "" },
      body: { json: showJson(example) },
      prefer: DRY_RUN,
    }),
    { isActive: refusal === null && version !== null && example !== null },
  );
  const [first] = error === null ? [] : explainError(error).fields;
  if (first === undefined) return null;
  return `The example input that is saved does not fit version ${version}: ${first.path} ${first.message}`;
}
