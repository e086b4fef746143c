import type { ButtonProps } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { useChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";

interface RemoveSubscriptionProps {
  readonly of: Pick<Subscription, "id" | "serviceName" | "status">;
  readonly onRemoved?: () => Promise<void>;
  readonly button?: ButtonProps;
}

/** Removes a subscription after a question, also one that its provider has ended. */
export function RemoveSubscription({ of: one, onRemoved, button }: RemoveSubscriptionProps) {
  const { id, serviceName, status } = one;
  const cancel = useChange("cancelSubscription", {
    done: "Subscription removed.",
    refresh: ["listSubscriptions"],
  });
  return (
    <ConfirmButton
      op="cancelSubscription"
      label="Remove"
      question={`Remove the subscription to ${serviceName}?`}
      {...(button === undefined ? {} : { button })}
      run={async () => {
        await cancel.run({ params: { id } });
        await onRemoved?.();
      }}
    >
      {status === "ENDED"
        ? "The application cannot read states and results of it any more, and what it has started there is cancelled. It can subscribe anew then, if the service is offered."
        : "Calls of this application are refused within a second, and what it has started there is cancelled."}
    </ConfirmButton>
  );
}
