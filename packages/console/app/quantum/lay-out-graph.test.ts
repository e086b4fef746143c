import { expect, test } from "vitest";
import { layOutGraph } from "./lay-out-graph.ts";
import type { Edge } from "./lay-out-graph.ts";

const line: readonly Edge[] = Array.from({ length: 9 }, (_, at) => [at, at + 1] as const);

function measure(count: number, edges: readonly Edge[]) {
  const places = layOutGraph(count, edges);
  return (a: number, b: number) => {
    const [from, to] = [places[a], places[b]];
    if (from === undefined || to === undefined) throw new Error("there is no such place");
    return Math.hypot(from.x - to.x, from.y - to.y);
  };
}

test("neighbours are near, and what is far in the graph is far in the drawing", () => {
  const distance = measure(10, line);
  const longest = Math.max(...line.map(([a, b]) => distance(a, b)));
  expect(longest).toBeLessThan(distance(0, 9) / 3);
});

test("no two nodes stand on one place, also where nothing joins them", () => {
  const distance = measure(5, []);
  for (let a = 0; a < 5; a++) for (let b = a + 1; b < 5; b++) expect(distance(a, b)).toBeGreaterThan(0.1);
});

test("the same graph is drawn the same, within its square; one node as well", () => {
  expect(layOutGraph(10, line)).toEqual(layOutGraph(10, line));
  const places = [...layOutGraph(10, line), ...layOutGraph(1, [])];
  expect(places.every(({ x, y }) => x >= 0 && x <= 1 && y >= 0 && y <= 1)).toBe(true);
});
