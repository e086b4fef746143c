import { Problem } from "@platform/contract/problems";
import type { BUILDS_API } from "@platform/contract/platform-api/builds";
import { readLastEventId } from "@platform/engine/http/event-stream";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { BuildHistory } from "../store/builds/build-history.ts";
import type { Stores } from "../store/stores.ts";
import { toBuildBody, toBuildSummary } from "./build-bodies.ts";
import type { PlatformCaller } from "./caller.ts";
import { findService } from "./find-service.ts";
import { createBuildStreamRoom, followBuild, readBuildPosition } from "./follow-build.ts";
import type { FollowBuildDeps } from "./follow-build.ts";

type Handlers = OperationHandlers<typeof BUILDS_API, PlatformCaller>;

/** What the handlers work with. */
interface Deps extends Pick<Stores, "services" | "builds">, Omit<FollowBuildDeps, "buildRoom"> {
  readonly buildHistory: BuildHistory;
  readonly builds: Stores["builds"];
}

/** Handlers that show builds. */
export function createBuildReadingHandlers(deps: Deps): Handlers {
  const { services, builds, buildHistory } = deps;
  const following: FollowBuildDeps = { ...deps, buildRoom: createBuildStreamRoom() };
  const findLatest = async ({
    caller,
    params,
  }: Pick<Parameters<Handlers["getBuild"]>[0], "caller" | "params">) => {
    const build = await builds.findLatest(caller.organisationId, params.key, params.version);
    if (!build) throw noBuild();
    return build;
  };
  return {
    listBuilds: async ({ caller, params, query }) => {
      await findService(services, caller, params.key);
      const page = await buildHistory.list(caller.organisationId, params.key, readPage(query));
      return { status: 200, body: { items: page.items.map(toBuildSummary), nextCursor: page.nextCursor } };
    },
    getBuild: async (request) => {
      const build = await findLatest(request);
      const { caller, query } = request;
      const { lines, nextOffset } = await builds.readLog(caller.organisationId, build.id, query.offset ?? 0);
      return { status: 200, body: toBuildBody(build, lines, nextOffset) };
    },
    followBuild: async (request) => {
      const { caller, params, http } = request;
      const { organisationId } = caller;
      const last = readLastEventId(http);
      const { id, offset } =
        last === undefined ? { id: (await findLatest(request)).id, offset: 0 } : readBuildPosition(last);
      const named = { serviceKey: params.key, version: params.version, id };
      const build = await buildHistory.find(organisationId, named);
      if (build === null) throw noBuild();
      return { status: 200, body: followBuild(following, { organisationId, build, offset }) };
    },
  };
}

function noBuild(): Problem {
  return new Problem("SERVICE_NOT_FOUND", "There is no build of this version.");
}
