import { Alert, Badge, Stack, Text } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import type { ReactNode } from "react";
import { Time } from "../../ui/time.tsx";
import { describeRetired, findNamedVersion } from "../../util/subscriptions.ts";

/** What keeps a subscription from being as others, in a word each. */
export function Standing({ of: { status, versionStatus, isOffered } }: { readonly of: Subscription }) {
  return (
    <>
      {status === "PAUSED" && <Badge>Paused</Badge>}
      {status === "ENDED" && <Badge>Ended by the provider</Badge>}
      {versionStatus === "RETIRED" && <Badge>Version retired</Badge>}
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

interface RetiredProps {
  readonly of: Subscription;
  /** The way to its page, from others. */
  readonly children?: ReactNode;
}

/** What still works where the version that is named was retired, and what to do. Nothing can be changed of a subscription that has ended. */
export function Retired({ of: one, children }: RetiredProps) {
  const { status, latestVersion } = one;
  const retired = describeRetired(one);
  if (retired === null || status === "ENDED") return null;
  return (
    <Alert variant="light" color="yellow" title={retired}>
      <Text c="var(--mantine-color-text)">
        Starts of it are refused with VERSION_RETIRED (410), and schedules of the subscription start nothing.
        What was started before goes on: states, results and logs can be read as before, and executions
        cancelled.{" "}
        {latestVersion === null
          ? "No version of the service is live: when one is, the subscription can be changed to it."
          : `Change the version of the subscription to start again: ${latestVersion} is live.`}{" "}
        {children}
      </Text>
    </Alert>
  );
}

/** Why a subscription starts nothing of a version, in a sentence; null: it does. */
export function refuseStarts(one: Subscription, version: string): string | null {
  const { status, latestVersion } = one;
  if (status === "ENDED") return "The provider has ended the subscription.";
  if (status === "PAUSED") return "The subscription is paused: starts are refused until it is resumed.";
  if (latestVersion === null) return "No version of the service is live.";
  const retired = version === findNamedVersion(one) ? describeRetired(one) : null;
  return retired === null ? null : `${retired}: choose another version.`;
}
