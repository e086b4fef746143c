import { Skeleton } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { q, useChange, useFetched } from "../../api/queries.ts";
import { BeginWith } from "../../try-it/begin-with.tsx";
import { TryForm } from "../../try-it/try-form.tsx";
import { Failure } from "../../ui/failure.tsx";
import { showJson } from "../../util/show-json.ts";
import { RunBeside } from "../executions/run-beside.tsx";
import { refuseStarts } from "./standing.tsx";
import { StartRefusal } from "./start-refusal.tsx";

const route = getRouteApi("/in/o/$org/applications/$id/subscriptions/$sid/try");

interface TrySubscriptionFormProps {
  readonly subscription: Subscription;
  readonly version: string;
  /** Whether another version is live. */
  readonly hasOthers: boolean;
  /** Identifier of what was started last; null: nothing was. */
  readonly started: string | null;
  readonly onStarted: (id: string) => void;
}

/** The form of one version, and what became of the last start beside it. */
export function TrySubscriptionForm(props: TrySubscriptionFormProps) {
  const { subscription, version, hasOthers, started, onStarted } = props;
  const { id, serviceKey: key } = subscription;
  const { from } = route.useSearch();
  const { data, error, retry } = useFetched(q("getCallableVersion", { params: { key, version } }));
  const { run, isRunning } = useChange("startSubscriptionExecution", {
    refresh: ["listExecutions", "countExecutions", "getSubscription", "listSubscriptions"],
  });
  if (data === undefined)
    return error === null ? <Skeleton height={320} /> : <Failure error={error} retry={retry} />;
  const request = { params: { id }, query: { version } };
  const example = showJson(data.exampleInput ?? { data: {}, params: {} });
  return (
    <BeginWith from={from} isOne={({ subscriptionId }) => subscriptionId === id} example={example} of={id}>
      {(begun) => (
        <TryForm
          start={{
            op: "startSubscriptionExecution",
            request,
            run: (sent) => run({ ...request, ...sent }),
            isRunning,
            unless: refuseStarts(subscription, version),
          }}
          begun={begun}
          example={example}
          inputSchema={data.inputSchema}
          onStarted={onStarted}
          explain={(refused) => <StartRefusal error={refused} hasOthers={hasOthers} />}
          beside={started === null ? null : <RunBeside key={started} id={started} />}
        />
      )}
    </BeginWith>
  );
}
