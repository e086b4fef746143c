import type { MarketplaceCard } from "@platform/contract/platform-api/marketplace";
import { formatDuration } from "../../util/times.ts";

/** How a service ran for others in the last 30 days, in one line. */
export function describeFigures({
  successPercent,
  medianRunMs,
}: NonNullable<MarketplaceCard["figures"]>): string {
  const succeeded = `${successPercent} % succeeded`;
  return medianRunMs === null ? succeeded : `${succeeded}, half within ${formatDuration(medianRunMs)}`;
}
