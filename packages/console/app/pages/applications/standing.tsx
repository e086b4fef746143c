import { Alert, Badge, Stack, Text } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { Time } from "../../ui/time.tsx";

/** What keeps a subscription from being as others, in a word each. */
export function Standing({ of: { status, isOffered } }: { readonly of: Subscription }) {
  return (
    <>
      {status === "PAUSED" && <Badge>Paused</Badge>}
      {status === "ENDED" && <Badge>Ended by the provider</Badge>}
      {!isOffered && <Badge>Withdrawn</Badge>}
    </>
  );
}

/** What the provider said, and what still works. */
export function Ended({ of: { endedAt, endReason } }: { readonly of: Subscription }) {
  if (endedAt === null) return null;
  return (
    <Alert variant="light" color="red" title="The provider has ended this subscription">
      <Stack gap="xs">
        <Text style={{ overflowWrap: "anywhere" }}>Reason: {endReason}</Text>
        <Text>
          Since <Time at={endedAt} />, starts are refused with SUBSCRIPTION_ENDED. What was started before
          goes on: states, results and logs can be read as before, and executions cancelled, until the
          subscription is removed. Schedules of it start nothing.
        </Text>
      </Stack>
    </Alert>
  );
}

/** Why a subscription starts nothing, in a sentence; null: it does. */
export function refuseStarts({ status, endpointUrl }: Subscription): string | null {
  if (status === "ENDED") return "The provider has ended the subscription.";
  if (status === "PAUSED") return "The subscription is paused: starts are refused until it is resumed.";
  return endpointUrl === null ? "No version of the service is live." : null;
}
