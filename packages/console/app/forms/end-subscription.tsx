import { Text } from "@mantine/core";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { Subscriber } from "@platform/contract/platform-api/subscriptions";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface EndSubscriptionFormProps {
  readonly serviceKey: string;
  readonly subscriber: Pick<Subscriber, "id" | "organizationName">;
  readonly close: () => void;
}

/** Ends a subscription to a service of the organisation, with a reason for the subscriber. */
export function EndSubscriptionForm({ serviceKey, subscriber, close }: EndSubscriptionFormProps) {
  const end = useChange("endSubscription", {
    done: "Subscription ended.",
    refresh: ["listServiceSubscriptions", "listSubscriptions", "getSubscription", "getMarketplaceEntry"],
  });
  return (
    <SchemaBackedForm<BodyOf<"endSubscription">>
      schema={SUBSCRIPTIONS_API.endSubscription.body}
      initial={{ reason: "" }}
      submitLabel="End for good"
      submit={(body) => end.run({ params: { key: serviceKey, subscriptionId: subscriber.id }, body })}
      onDone={close}
      onCancel={close}
    >
      <Text>
        Within a second, starts are refused with the reason. What was started goes on, and{" "}
        {subscriber.organizationName} still reads states, results and logs of it. There is no way back; while
        the service is offered, anybody may subscribe anew.
      </Text>
      <TextField
        name="reason"
        label="Reason"
        description="One line that the subscriber reads: on the page of the subscription, and in each refusal"
        isRequired
        hasFocus
      />
    </SchemaBackedForm>
  );
}
