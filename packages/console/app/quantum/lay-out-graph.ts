/** A place in a square with sides of 1. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** Two nodes by their places in the list. */
export type Edge = readonly [from: number, to: number];

const ROUNDS = 200;

/**
 * Places for the nodes of a small graph, so that neighbours are near and others apart: nodes push each other away, edges pull, and both get
 * weaker. Begins with a circle, so that the same graph is always drawn the same.
 */
export function layOutGraph(count: number, edges: readonly Edge[]): readonly Place[] {
  const xs = Array.from({ length: count }, (_, at) => Math.cos((at / count) * 2 * Math.PI));
  const ys = Array.from({ length: count }, (_, at) => Math.sin((at / count) * 2 * Math.PI));
  const length = 2 / Math.sqrt(count);
  for (let round = 0; round < ROUNDS; round++)
    move({ xs, ys, edges, length, most: 0.2 * (1 - round / ROUNDS) });
  return fit(xs, ys);
}

interface Forces {
  readonly xs: number[];
  readonly ys: number[];
  readonly edges: readonly Edge[];
  readonly length: number;
  /** How far a node goes in this round. */
  readonly most: number;
}

function move({ xs, ys, edges, length, most }: Forces): void {
  const dx = xs.map(() => 0);
  const dy = xs.map(() => 0);
  const push = (from: number, to: number, force: (distance: number) => number) => {
    const x = (xs[from] ?? 0) - (xs[to] ?? 0);
    const y = (ys[from] ?? 0) - (ys[to] ?? 0);
    const distance = Math.max(1e-3, Math.hypot(x, y));
    const by = force(distance) / distance;
    dx[from] = (dx[from] ?? 0) + x * by;
    dy[from] = (dy[from] ?? 0) + y * by;
    dx[to] = (dx[to] ?? 0) - x * by;
    dy[to] = (dy[to] ?? 0) - y * by;
  };
  for (let from = 0; from < xs.length; from++)
    for (let to = from + 1; to < xs.length; to++) push(from, to, (distance) => length ** 2 / distance);
  for (const [from, to] of edges) push(from, to, (distance) => -(distance ** 2) / length);
  for (let at = 0; at < xs.length; at++) {
    const force = Math.max(1e-9, Math.hypot(dx[at] ?? 0, dy[at] ?? 0));
    const by = Math.min(force, most) / force;
    xs[at] = (xs[at] ?? 0) + (dx[at] ?? 0) * by;
    ys[at] = (ys[at] ?? 0) + (dy[at] ?? 0) * by;
  }
}

function fit(xs: readonly number[], ys: readonly number[]): readonly Place[] {
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const size = Math.max(Math.max(...xs) - left, Math.max(...ys) - top, 1e-9);
  return xs.map((x, at) => ({ x: (x - left) / size, y: ((ys[at] ?? 0) - top) / size }));
}
