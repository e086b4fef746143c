import { Skeleton } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { q, useFetched } from "../../api/queries.ts";
import { Failure } from "../../ui/failure.tsx";
import { useNow } from "../../ui/time.tsx";
import { findUsable } from "../../util/access-keys.ts";
import { CallPrograms } from "./call-programs.tsx";

interface CallSubscriptionProps {
  readonly of: Pick<Subscription, "applicationId" | "endpointUrl">;
  readonly applicationName: string;
  /** Where the body of a start comes from. */
  readonly example: {
    /** undefined: not known yet; null: there is none. */
    readonly input: Readonly<Record<string, unknown>> | null | undefined;
    readonly error: Error | null;
    readonly retry: () => void;
  };
}

/** The call by one subscription, as programs: its endpoint URL, and the id of a key of its application. */
export function CallSubscription({ of: one, applicationName, example }: CallSubscriptionProps) {
  const { applicationId, endpointUrl } = one;
  const configuration = useFetched(q("getConfiguration", {}));
  const keyId = useKeyId(applicationId);
  const error = configuration.error ?? example.error;
  if (error !== null)
    return <Failure error={error} retry={() => [configuration, example].forEach(({ retry }) => retry())} />;
  if (endpointUrl === null || configuration.data === undefined || example.input === undefined)
    return <Skeleton height={320} />;
  return (
    <CallPrograms
      call={{ tokenUrl: `${configuration.data.gatewayUrl}/token`, endpointUrl, keyId }}
      input={example.input ?? { data: {}, params: {} }}
      application={{ id: applicationId, name: applicationName }}
    />
  );
}

/** A key of the application that is of use; who may not see keys reads its id from the environment. */
function useKeyId(applicationId: string): string | undefined {
  const { data } = useFetched(q("listAccessKeys", { params: { id: applicationId } }));
  const now = useNow();
  return data && findUsable(data.items, now)?.keyId;
}
