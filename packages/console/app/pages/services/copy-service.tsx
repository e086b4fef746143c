import { getRouteApi } from "@tanstack/react-router";
import { CopyAs } from "../../ui/copy-as.tsx";

const route = getRouteApi("/in/o/$org/services/$key");

/** What the open tab of a service shows, for elsewhere. */
export function CopyService({ serviceKey: key }: { readonly serviceKey: string }) {
  const { tab } = route.useSearch();
  const shown = { request: { params: { key } }, id: key } as const;
  if (tab === "versions") return <CopyAs op="listVersions" {...shown} command={`platform versions ${key}`} />;
  if (tab === "builds") return <CopyAs op="listBuilds" {...shown} />;
  if (tab === "listing") return <CopyAs op="getListing" {...shown} command={`platform listing ${key}`} />;
  if (tab === "plans") return <CopyAs op="listPlans" {...shown} command={`platform plans ls ${key}`} />;
  if (tab === "subscribers")
    return (
      <CopyAs op="listServiceSubscriptions" {...shown} command={`platform subscriptions ls --of ${key}`} />
    );
  return <CopyAs op="getService" {...shown} command={`platform versions ${key}`} />;
}
