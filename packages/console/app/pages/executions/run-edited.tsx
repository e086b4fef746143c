import type { Execution } from "../../execution/advice.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { ButtonLink } from "../../ui/link.tsx";

/** Leads to the form that begins with the input of an execution, to start another one in the same way. */
export function RunEdited({ execution }: { readonly execution: Execution }) {
  const { id, kind, service, version, subscriptionId, application, inputBytes } = execution;
  const { slug: org } = useOrganisation();
  if (inputBytes === undefined) return null;
  const search = { from: id, version };
  if (kind === "job")
    return (
      <Can op="startJob">
        <ButtonLink to="/o/$org/services/$key/try" params={{ org, key: service.key }} search={search}>
          Edit and run
        </ButtonLink>
      </Can>
    );
  if (kind === "incoming" || subscriptionId === undefined || application === undefined) return null;
  return (
    <Can op="startSubscriptionExecution">
      <ButtonLink
        to="/o/$org/applications/$id/subscriptions/$sid/try"
        params={{ org, id: application.id, sid: subscriptionId }}
        search={search}
      >
        Edit and run
      </ButtonLink>
    </Can>
  );
}
