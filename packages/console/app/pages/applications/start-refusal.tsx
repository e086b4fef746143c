import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { explainError } from "../../api/explain-error.ts";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";

const route = getRouteApi("/in/o/$org/applications/$id/subscriptions/$sid/try");

interface Words {
  readonly title: string;
  readonly advice: string;
  /** Whether that is done on the page of the subscription. */
  readonly leadsToSubscription?: true;
  /** Whether another version can be chosen instead, where one is live. */
  readonly isOfVersion?: true;
}

const NO_OTHER = "No other version of the service is live.";

/** What a refused start means where one tries a subscription; what was entered stays in any case. */
const WORDS: ReadonlyMap<string | undefined, Words> = new Map<string | undefined, Words>([
  [
    "QUOTA_EXCEEDED",
    {
      title: "A limit is reached: nothing was started",
      advice: "What was entered stays. Another plan has other limits.",
      leadsToSubscription: true,
    },
  ],
  [
    "RATE_LIMITED",
    {
      title: "Too much at once: nothing was started",
      advice: "What was entered stays: press Run again then.",
    },
  ],
  [
    "NOT_SUBSCRIBED",
    {
      title: "The subscription starts nothing now",
      advice: "If it is paused, it is resumed on its page.",
      leadsToSubscription: true,
    },
  ],
  [
    "SUBSCRIPTION_ENDED",
    {
      title: "The provider has ended the subscription",
      advice: "What was started before can still be read.",
      leadsToSubscription: true,
    },
  ],
  [
    "VERSION_RETIRED",
    { title: "The provider has retired this version", advice: NO_OTHER, isOfVersion: true },
  ],
  ["SERVICE_NOT_FOUND", { title: "There is no such version", advice: NO_OTHER, isOfVersion: true }],
  [
    "DATA_REFERENCE_INVALID",
    {
      title: "The file of a data pool cannot be used",
      advice: "The application reads it: it needs access to the data pool, given on the pool's page.",
    },
  ],
]);

interface StartRefusalProps {
  readonly error: unknown;
  /** Whether another version is live than the one that was tried. */
  readonly hasOthers: boolean;
}

/** Why nothing was started, and what to do about it. */
export function StartRefusal({ error, hasOthers }: StartRefusalProps) {
  const { org, id, sid } = route.useParams();
  const words = WORDS.get(explainError(error).code);
  if (words === undefined) return <Failure error={error} />;
  return (
    <Failure error={error} title={words.title}>
      <Text fz="sm" c="var(--mantine-color-text)">
        {words.isOfVersion && hasOthers ? "Choose another version above." : words.advice}{" "}
        {words.leadsToSubscription && (
          <AppLink to="/o/$org/applications/$id/subscriptions/$sid" params={{ org, id, sid }}>
            Open the subscription
          </AppLink>
        )}
      </Text>
    </Failure>
  );
}
