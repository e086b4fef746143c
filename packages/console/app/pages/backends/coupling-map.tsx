import { Text } from "@mantine/core";
import { useMemo } from "react";
import type { Couplings } from "../../quantum/connectivity.ts";
import { layOutGraph } from "../../quantum/lay-out-graph.ts";
import { formatCount } from "../../util/units.ts";
import "./coupling-map.css";

/** Qubits that are drawn: of more, nothing could be made out. */
const MOST_DRAWN = 127;
/** Names longer than this do not go into a circle. */
const LONGEST_NAME = 3;
/** Pairs that are listed. */
const MOST_LISTED = 500;
const SIZE = 320;
const MARGIN = 16;

/** Which qubits gates of two act on: a small drawing, and each pair as text. */
export function CouplingMap({ couplings }: { readonly couplings: Couplings }) {
  const { qubits, pairs } = couplings;
  const words = `${formatCount(pairs.length)} ${pairs.length === 1 ? "pair" : "pairs"} of ${formatCount(qubits.length)} qubits`;
  return (
    <>
      <Text mb="sm">Gates of two qubits act on {words}.</Text>
      {qubits.length <= MOST_DRAWN && <Drawing couplings={couplings} words={words} />}
      <details className="coupling-pairs">
        <summary>Pairs as text</summary>
        <Text className="mono" fz="sm" maw="90ch">
          {pairs
            .slice(0, MOST_LISTED)
            .map(([from, to]) => `${qubits[from] ?? ""}-${qubits[to] ?? ""}`)
            .join("  ")}
        </Text>
        {pairs.length > MOST_LISTED && (
          <Text c="dimmed" fz="sm">
            and {formatCount(pairs.length - MOST_LISTED)} more, which the backend&apos;s description has.
          </Text>
        )}
      </details>
    </>
  );
}

function Drawing({ couplings, words }: { readonly couplings: Couplings; readonly words: string }) {
  const { qubits, pairs } = couplings;
  const places = useMemo(() => layOutGraph(qubits.length, pairs), [qubits, pairs]);
  const at = (index: number) => {
    const { x, y } = places[index] ?? { x: 0, y: 0 };
    return { x: MARGIN + x * (SIZE - 2 * MARGIN), y: MARGIN + y * (SIZE - 2 * MARGIN) };
  };
  const radius = qubits.length > 40 ? 6 : 10;
  const isNamed = radius === 10 && qubits.every((name) => name.length <= LONGEST_NAME);
  return (
    <svg className="coupling-map" role="img" aria-label={`Drawing: ${words}`} viewBox={`0 0 ${SIZE} ${SIZE}`}>
      {pairs.map(([from, to]) => {
        const [a, b] = [at(from), at(to)];
        return <line key={`${from} ${to}`} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />;
      })}
      {qubits.map((name, index) => {
        const { x, y } = at(index);
        return (
          <g key={name}>
            <title>{name}</title>
            <circle cx={x} cy={y} r={radius} />
            {isNamed && (
              <text x={x} y={y} dy="0.36em">
                {name}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
