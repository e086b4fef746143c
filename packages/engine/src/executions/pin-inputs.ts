import type { PersistTarget } from "@platform/contract/execution";
import type { PinnedInputs } from "../python/port/runtime.ts";
import type { InputSource, PinnedOutput, PinnedTarget, ResultTargets } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import { refuseTarget } from "../store/refuse-target.ts";
import type { NamedPool } from "./find-pools.ts";
import type { AcceptedBody } from "./start-body.ts";

/** Where a start finds what its body names. */
export interface Pinners {
  readonly inputs: InputSource;
  /** Missing: results are stored nowhere besides. */
  readonly targets: ResultTargets | undefined;
}

/** What a body names, besides what it has by value. */
export interface Named {
  readonly body: Pick<AcceptedBody, "references" | "persistTo">;
  readonly pools: readonly NamedPool[];
  readonly output: NamedPool | null;
}

/** The same as of now, and what the owner may use of it. */
export interface Pinned {
  readonly references: PinnedInputs;
  readonly persistTo?: PinnedTarget;
  readonly outputPool?: PinnedOutput;
}

/** Finds all that the body names; nothing is stored. @throws Problem DATA_REFERENCE_INVALID, RATE_LIMITED, UNAVAILABLE */
export async function pinNamed(
  { inputs, targets }: Pinners,
  { body, pools, output }: Named,
  owner: Owner,
): Promise<Pinned> {
  return {
    references: await pinAll(inputs, { ...body.references, pools }, owner),
    ...(body.persistTo === undefined ? {} : { persistTo: await pinTarget(targets, body.persistTo, owner) }),
    ...(output === null ? {} : { outputPool: await pinOutput(targets, output, owner) }),
  };
}

/** Equal for what is not there, what the caller may not change, and a server that has nothing of the kind. */
async function pinTarget(
  targets: ResultTargets | undefined,
  target: PersistTarget,
  owner: Owner,
): Promise<PinnedTarget> {
  if (targets === undefined) throw refuseTarget();
  return await targets.pin(target, owner);
}

async function pinOutput(
  targets: ResultTargets | undefined,
  { path, dataPoolId }: NamedPool,
  owner: Owner,
): Promise<PinnedOutput> {
  const place = `/${path.join("/")}`;
  if (targets === undefined) throw refuseTarget(place);
  const { userId } = await targets.pin({ dataPoolId }, owner, place);
  return { path, dataPoolId, userId };
}

async function pinAll(
  inputs: InputSource,
  { data, params, pools }: AcceptedBody["references"] & { readonly pools: readonly NamedPool[] },
  owner: Owner,
): Promise<PinnedInputs> {
  if (data === undefined && params === undefined && pools.length === 0) return {};
  const [first, second, files] = await Promise.all([
    data && inputs.pin(data, owner),
    params && inputs.pin(params, owner),
    pools.length === 0
      ? []
      : inputs.pinPools(
          pools.map(({ dataPoolId }) => dataPoolId),
          owner,
        ),
  ]);
  const pinned = pools.map((pool, index) => ({ ...pool, files: files[index] ?? [] }));
  return {
    ...(first ? { data: first } : {}),
    ...(second ? { params: second } : {}),
    ...(pinned.length > 0 ? { pools: pinned } : {}),
  };
}
