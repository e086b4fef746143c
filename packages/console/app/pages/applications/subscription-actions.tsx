import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { useChange } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { OpenButton } from "../../ui/open-button.tsx";
import { RemoveSubscription } from "./remove-subscription.tsx";

/** What can be done with a subscription on its page. */
export function SubscriptionActions({ of: subscription }: { readonly of: Subscription }) {
  const { id, applicationId, status } = subscription;
  const { slug: org } = useOrganisation();
  const navigate = useNavigate();
  const isPaused = status === "PAUSED";
  const unless = status === "ENDED" ? "The provider has ended the subscription." : null;
  const change = useChange("putSubscription", {
    done: isPaused ? "Resumed." : "Paused: starts are refused.",
    refresh: ["getSubscription", "listSubscriptions"],
  });
  const turn = () =>
    void change
      .run({ params: { id }, body: { status: isPaused ? "ACTIVE" : "PAUSED" } })
      .catch(notifyFailure);
  return (
    <>
      <CopyAs op="getSubscription" request={{ params: { id } }} id={id} command="platform subscriptions ls" />
      <RemoveSubscription
        of={subscription}
        onRemoved={() =>
          navigate({ to: "/o/$org/applications/$id", params: { org, id: applicationId }, search: {} })
        }
      />
      <Can op="startSubscriptionExecution" unless={unless}>
        <ButtonLink
          to="/o/$org/applications/$id/subscriptions/$sid/try"
          params={{ org, id: applicationId, sid: id }}
          variant="default"
        >
          Try it
        </ButtonLink>
      </Can>
      <Can op="putSubscription" unless={unless}>
        <Button variant="default" loading={change.isRunning} onClick={turn}>
          {isPaused ? "Resume" : "Pause"}
        </Button>
      </Can>
      <OpenButton op="putSubscription" set={{ edit: "terms" }} unless={unless}>
        Change
      </OpenButton>
    </>
  );
}
