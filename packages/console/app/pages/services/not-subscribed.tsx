import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Service } from "@platform/contract/platform-api/services";
import { toRunCommand } from "@platform/contract/snippets/run-command";
import { q, useChange, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { Code } from "../../ui/code.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { formatCount } from "../../util/units.ts";

interface NotSubscribedProps {
  readonly service: Service;
  readonly version: string;
  /** Through so many subscriptions it was looked, and there are more; null: through all. */
  readonly looked: number | null;
  /** There were subscriptions, which have been ended. */
  readonly hasEnded: boolean;
  /** There are subscriptions, which name versions that were retired. */
  readonly hasRetired: boolean;
}

function describeNone({ looked, hasEnded, hasRetired }: NotSubscribedProps): string {
  if (hasRetired) return "The subscriptions of applications name versions that are retired";
  if (hasEnded) return "All subscriptions of applications have been ended";
  if (looked === null) return "No application has subscribed";
  return `None of the newest ${formatCount(looked)} subscriptions is of this service`;
}

/** Nothing calls the service yet: how it is started without, and the way to an endpoint URL. */
export function NotSubscribed(props: NotSubscribedProps) {
  const { service, version, hasRetired } = props;
  const { key, name, publication } = service;
  const { data } = useFetched(q("getVersion", { params: { key, version } }));
  return (
    <>
      <EmptyState title={describeNone(props)} action={<Subscribe service={service} />}>
        Programs call a service by the endpoint URL of an application&apos;s subscription, which is then shown
        here.{hasRetired && ` Those can be changed to ${version}, on their pages.`}
        {publication === null && " Publishing it for this organisation lets its applications subscribe."}{" "}
        Without one, the command below starts it as a job of this organisation.
      </EmptyState>
      <Code
        text={toRunCommand(name, data?.exampleInput ?? { data: {}, params: {} })}
        language="bash"
        what="Command that starts it as a job"
      />
    </>
  );
}

/** Publishes the service within the organisation where it is not, and leads to the dialog that subscribes an application. */
function Subscribe({ service: { key, publication } }: { readonly service: Service }) {
  const { slug: org } = useOrganisation();
  const navigate = useNavigate();
  const publish = useChange("publishService", {
    done: "Published for this organisation.",
    refresh: ["getService", "listServices", "listMarketplace"],
  });
  const run = async () => {
    if (publication === null) await publish.run({ params: { key }, body: { scope: "internal" } });
    await navigate({ to: "/o/$org/marketplace/$key", params: { org, key }, search: { new: "subscription" } });
  };
  return (
    <Can op={publication === null ? "publishService" : "createSubscription"}>
      <Button loading={publish.isRunning} onClick={() => void run().catch(notifyFailure)}>
        {publication === null ? "Publish and subscribe" : "Subscribe"}
      </Button>
    </Can>
  );
}
