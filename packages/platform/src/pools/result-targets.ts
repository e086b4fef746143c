import { refuseTarget } from "@platform/engine/store/refuse-target";
import type { ResultTargets } from "@platform/engine/store/execution-store";
import type { ResultFileStore } from "../store/pools/result-files.ts";

/** Data pools that get results and files of runs: who starts an execution may store files in them. */
export function createResultTargets(store: Pick<ResultFileStore, "mayStore">): ResultTargets {
  return {
    pin: async ({ dataPoolId, name = null }, owner, place) => {
      const { kind, startedBy } = owner;
      // A token that only starts jobs changes nothing else.
      if (kind === "organisation" && startedBy?.mayEdit !== true) throw refuseTarget(place);
      const target = { dataPoolId, name, userId: startedBy?.userId ?? null };
      if (!(await store.mayStore(owner, target))) throw refuseTarget(place);
      return target;
    },
  };
}
