import type { ButtonProps } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { useChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";

interface EndSubscriptionProps {
  readonly of: Pick<Subscription, "id" | "serviceName" | "status">;
  readonly onEnded?: () => Promise<void>;
  readonly button?: ButtonProps;
}

/** Ends a subscription after a question; one that the provider has ended is removed. */
export function EndSubscription({ of: one, onEnded, button }: EndSubscriptionProps) {
  const { id, serviceName, status } = one;
  const hasEnded = status === "ENDED";
  const cancel = useChange("cancelSubscription", {
    done: hasEnded ? "Subscription removed." : "Subscription ended.",
    refresh: ["listSubscriptions"],
  });
  return (
    <ConfirmButton
      op="cancelSubscription"
      label={hasEnded ? "Remove" : "End"}
      question={`${hasEnded ? "Remove" : "End"} the subscription to ${serviceName}?`}
      {...(button === undefined ? {} : { button })}
      run={async () => {
        await cancel.run({ params: { id } });
        await onEnded?.();
      }}
    >
      {hasEnded
        ? "The application cannot read states and results of it any more, and what it has started there is cancelled. It can subscribe anew then, if the service is offered."
        : "Calls of this application are refused within a second, and what it has started there is cancelled."}
    </ConfirmButton>
  );
}
