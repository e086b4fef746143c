import type { Backend } from "@platform/contract/quantum-api/backends";
import type { Edge } from "./lay-out-graph.ts";

type Configuration = NonNullable<Backend["configuration"]>;

/** Which qubits gates of two act on. */
export interface Couplings {
  /** Names of the qubits, in their order. */
  readonly qubits: readonly string[];
  /** Each pair once, in either direction. */
  readonly pairs: readonly Edge[];
}

/** The couplings that a backend names; null: any pair, or it does not say. */
export function readCouplings({ connectivity, qubits = [] }: Configuration): Couplings | null {
  if (connectivity === undefined || connectivity.fully_connected || connectivity.graph === undefined)
    return null;
  const names = [
    ...new Set([
      ...qubits.map(({ id }) => id),
      ...Object.entries(connectivity.graph).flatMap(([name, others]) => [name, ...others]),
    ]),
  ];
  const places = new Map(names.map((name, place) => [name, place]));
  const pairs = new Map<string, Edge>();
  for (const [name, others] of Object.entries(connectivity.graph))
    for (const other of others) {
      const ends = [places.get(name) ?? 0, places.get(other) ?? 0].toSorted((a, b) => a - b);
      const [from = 0, to = 0] = ends;
      if (from !== to) pairs.set(ends.join(" "), [from, to]);
    }
  return { qubits: names, pairs: [...pairs.values()] };
}
