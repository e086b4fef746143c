import type { ServicePolicy } from "@platform/contract/policy";
import { countAttempts } from "@platform/contract/retries";
import type { RetryPolicy } from "@platform/contract/retries";
import { cleanText } from "../base/output.ts";

/** Lines about a policy: the name of a setting, and what it is. */
export function describePolicy({
  timeoutSeconds,
  concurrency = {},
  priority = "normal",
  retries,
  startWithinSeconds,
}: ServicePolicy): readonly (readonly [name: string, value: string])[] {
  return [
    ["Timeout", timeoutSeconds === undefined ? "as the version says" : `${timeoutSeconds} s`],
    ["Priority", priority],
    ["At once", describePlaces(concurrency)],
    ...(startWithinSeconds === undefined ? [] : [["Begins", `within ${startWithinSeconds} s`] as const]),
    ...(retries === undefined ? [] : [["Retries", describeRetries(retries)] as const]),
  ];
}

/** `when its worker is lost, and after TIMEOUT: 2 at most, pause 10 s`. */
function describeRetries(retries: RetryPolicy): string {
  const { onLost, onError } = retries;
  const after = onError?.codes === undefined ? "errors" : onError.codes.map(cleanText).join(", ");
  const when = [
    ...(onLost === "retry" ? ["when its worker is lost"] : []),
    ...(onError === undefined ? [] : [`after ${after}`]),
  ];
  if (when.length === 0) return "never";
  const pause = onError === undefined ? "" : `, pause ${onError.backoffSeconds} s`;
  return `${when.join(", and ")}: ${countAttempts(retries) - 1} at most${pause}`;
}

function describePlaces({ service, subscription }: NonNullable<ServicePolicy["concurrency"]>): string {
  const limits = [
    ...(service === undefined ? [] : [`${service} of the service`]),
    ...(subscription === undefined ? [] : [`${subscription} of one subscription`]),
  ];
  return limits.length === 0 ? "no limit" : limits.join(", ");
}
