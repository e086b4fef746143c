import { Skeleton, Text } from "@mantine/core";
import { useState } from "react";
import type { PointerEvent } from "react";
import type { ExecutionStatus } from "@platform/contract/execution";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { choosePeriod, toBuckets } from "../../execution/buckets.ts";
import type { Bucket } from "../../execution/buckets.ts";
import type { ExecutionFilter } from "../../execution/filter.ts";
import { toStateWord } from "../../execution/states.ts";
import { useSetSearch } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { useNow } from "../../ui/time.tsx";
import { formatExact, parseTimestamp } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";
import { BucketTable } from "./bucket-table.tsx";
import "./histogram.css";

/** From the bottom of a bar upwards: what went well carries the rest. */
const STACK = [
  "SUCCEEDED",
  "FAILED",
  "UNKNOWN",
  "RUNNING",
  "PENDING",
] as const satisfies readonly ExecutionStatus[];
const HEIGHT = 100;
/** Of the whole, so that nothing moves when the numbers are there. */
const HEIGHT_PIXELS = 152;

/** How many executions were created when, by their state now. A part that is drawn over, or a row of its table, becomes the filter. */
export function Histogram({ filter }: { readonly filter: ExecutionFilter }) {
  const setSearch = useSetSearch();
  const period = choosePeriod(filter, useNow());
  const { data, error, retry } = useFetched(
    q("countExecutions", { query: { ...period.filter, by: period.by } }),
    { refresh: REFRESH_MS.list },
  );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton className="histogram" h={HEIGHT_PIXELS} />;
  const { items, total, isComplete } = data;
  const buckets = toBuckets(period, items);
  const choose = (first: Bucket | undefined, last: Bucket | undefined) => {
    if (first !== undefined && last !== undefined) setSearch({ after: first.from, before: last.to }, "push");
  };
  const span = nameSpan(filter);
  const words = `${isComplete ? "" : "The newest "}${formatCount(total)} ${total === 1 ? "execution" : "executions"} created ${span}, by ${period.by}`;
  return (
    <figure className="histogram">
      <figcaption>
        <Text span inherit fw={600}>
          {words}
        </Text>
        <span className="histogram-legend">
          {STACK.filter((status) => buckets.some(({ counts }) => counts[status] !== undefined)).map(
            (status) => (
              <span key={status} className="state">
                <span className="state-dot" data-state={status} aria-hidden />
                {toStateWord(status)}
              </span>
            ),
          )}
        </span>
      </figcaption>
      <Bars buckets={buckets} label={words} choose={choose} />
      <details>
        <summary>Show as table</summary>
        <BucketTable buckets={buckets} by={period.by} states={STACK} choose={(one) => choose(one, one)} />
      </details>
    </figure>
  );
}

function nameSpan({ createdAfter, createdBefore }: ExecutionFilter): string {
  if (createdAfter !== undefined) return "in the chosen period";
  return createdBefore === undefined ? "in the last 24 hours" : "in the 24 hours before that";
}

interface BarsProps {
  readonly buckets: readonly Bucket[];
  readonly label: string;
  readonly choose: (first: Bucket | undefined, last: Bucket | undefined) => void;
}

function Bars({ buckets, label, choose }: BarsProps) {
  const [drawn, setDrawn] = useState<readonly [from: number, to: number] | null>(null);
  const most = Math.max(1, ...buckets.map(({ total }) => total));
  const indexAt = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * buckets.length);
    return Math.min(buckets.length - 1, Math.max(0, index));
  };
  return (
    <svg
      className="histogram-bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = indexAt(event);
        setDrawn([at, at]);
      }}
      onPointerMove={(event) => {
        if (drawn !== null) setDrawn([drawn[0], indexAt(event)]);
      }}
      onPointerCancel={() => setDrawn(null)}
      onPointerUp={() => {
        if (drawn === null) return;
        setDrawn(null);
        choose(buckets[Math.min(...drawn)], buckets[Math.max(...drawn)]);
      }}
    >
      {buckets.map((bucket, at) => (
        <Bar key={bucket.from} bucket={bucket} at={at} most={most} />
      ))}
      {drawn !== null && (
        <rect
          className="histogram-drawn"
          x={Math.min(...drawn)}
          width={Math.abs(drawn[1] - drawn[0]) + 1}
          y={0}
          height={HEIGHT}
        />
      )}
    </svg>
  );
}

function Bar({ bucket, at, most }: { readonly bucket: Bucket; readonly at: number; readonly most: number }) {
  return (
    <g>
      <title>{describeBucket(bucket)}</title>
      {/* The whole height can be pointed at, also where there is no bar. */}
      <rect className="histogram-place" x={at} width={1} y={0} height={HEIGHT} />
      {stack(bucket, most).map(({ status, top, height }) => (
        <rect key={status} data-state={status} x={at + 0.1} width={0.8} y={top} height={height} />
      ))}
    </g>
  );
}

/** The parts of a bar, one on the other. */
function stack({ counts }: Bucket, most: number) {
  const parts: { readonly status: ExecutionStatus; readonly top: number; readonly height: number }[] = [];
  let top = HEIGHT;
  for (const status of STACK) {
    const count = counts[status] ?? 0;
    if (count === 0) continue;
    // Never so thin that it cannot be seen.
    const height = Math.max(2, (count / most) * (HEIGHT - 4));
    top = Math.max(0, top - height);
    parts.push({ status, top, height });
  }
  return parts;
}

function describeBucket({ from, counts }: Bucket): string {
  const parts = STACK.flatMap((status) => {
    const count = counts[status] ?? 0;
    return count === 0 ? [] : [`${formatCount(count)} ${status.toLowerCase()}`];
  });
  return `${formatExact(parseTimestamp(from), "local")}: ${parts.length === 0 ? "none" : parts.join(", ")}`;
}
