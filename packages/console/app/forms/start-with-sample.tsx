import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { useOrganisation, useScope } from "../api/scope.tsx";
import { Can } from "../ui/can.tsx";
import { useOnePress } from "../ui/use-one-press.ts";

const NAME = "sample";
/** Services of this name and a number that are looked at. */
const MOST = 100;

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
  const createService = useChange("createService", { refresh: ["listServices"] });
  const createVersion = useChange("createVersion", { refresh: ["listVersions", "listBuilds", "getService"] });
  return async () => {
    const { items } = await api.listServices({ query: { q: NAME, limit: MOST } });
    const name = findFreeName(new Set(items.map((service) => service.name)));
    const { packSample } = await import("../util/pack-sample.ts");
    const body = await packSample(name);
    const { key } = await createService.run({
      body: { name, description: "Adds up numbers: a sample to begin with" },
    });
    const { version } = await createVersion.run({ params: { key }, query: { bump: "patch" }, body });
    return { key, version };
  };
}

/** "sample", "sample-2", "sample-3". */
function findFreeName(taken: ReadonlySet<string>): string {
  let name = NAME;
  for (let number = 2; taken.has(name); number += 1) name = `${NAME}-${number}`;
  return name;
}
