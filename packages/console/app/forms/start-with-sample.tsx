import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import type { Service } from "@platform/contract/platform-api/services";
import type { PlatformApi } from "../api/client.ts";
import { useOrganisation, useScope } from "../api/scope.tsx";
import { Can } from "../ui/can.tsx";
import { useOnePress } from "../ui/use-one-press.ts";
import { useUpload } from "./use-upload.ts";

const NAME = "sample";
const DESCRIPTION = "Adds up numbers: a sample to begin with";

/** The project that `platform init` writes becomes a service by one press. */
export function StartWithSample() {
  const { slug: org } = useOrganisation();
  const navigate = useNavigate();
  const create = useCreate();
  const { isRunning, press } = useOnePress(async () => {
    const { key, version } = await create();
    await navigate({ to: "/o/$org/services/$key/versions/$version", params: { org, key, version } });
  });
  return (
    <Can op="createService">
      <Button variant="default" loading={isRunning} onClick={press}>
        Start with a sample
      </Button>
    </Can>
  );
}

function useCreate() {
  const { api } = useScope();
  const { asService, toService } = useUpload();
  return async () => {
    const { items } = await api.listServices({ query: { q: NAME, limit: MAX_PAGE_SIZE } });
    const begun = await findBegun(api, items);
    const name = begun?.name ?? findFreeName(new Set(items.map((service) => service.name)));
    const { packSample } = await import("../util/pack-sample.ts");
    const upload = { body: await packSample(name), bump: "patch" } as const;
    return begun === undefined
      ? await asService({ name, description: DESCRIPTION }, upload)
      : await toService(begun.key, upload);
  };
}

/** One whose project could not be sent before. One whose versions are retired, or that is being built, is another. */
async function findBegun(api: PlatformApi, services: readonly Service[]): Promise<Service | undefined> {
  const found = services.find(
    ({ name, description, latestVersion }) =>
      isSample(name) && description === DESCRIPTION && latestVersion === null,
  );
  if (found === undefined) return undefined;
  const request = { params: { key: found.key }, query: { limit: 1 } };
  const [versions, builds] = await Promise.all([api.listVersions(request), api.listBuilds(request)]);
  return versions.items.length === 0 && builds.items.length === 0 ? found : undefined;
}

function isSample(name: string): boolean {
  return name === NAME || (name.startsWith(`${NAME}-`) && /^\d+$/u.test(name.slice(NAME.length + 1)));
}

/** "sample", "sample-2", "sample-3". */
function findFreeName(taken: ReadonlySet<string>): string {
  let name = NAME;
  for (let number = 2; taken.has(name); number += 1) name = `${NAME}-${number}`;
  return name;
}
