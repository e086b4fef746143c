import type { ButtonProps } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { useChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../ui/confirm.tsx";

interface EndSubscriptionProps {
  readonly of: Pick<Subscription, "id" | "serviceName">;
  readonly onEnded?: () => Promise<void>;
  readonly button?: ButtonProps;
}

/** Ends a subscription after a question. */
export function EndSubscription({ of: { id, serviceName }, onEnded, button }: EndSubscriptionProps) {
  const cancel = useChange("cancelSubscription", {
    done: "Subscription ended.",
    refresh: ["listSubscriptions"],
  });
  return (
    <ConfirmButton
      op="cancelSubscription"
      label="End"
      question={`End the subscription to ${serviceName}?`}
      {...(button === undefined ? {} : { button })}
      run={async () => {
        await cancel.run({ params: { id } });
        await onEnded?.();
      }}
    >
      Calls of this application are refused within a second, and what it has started there is cancelled.
    </ConfirmButton>
  );
}
