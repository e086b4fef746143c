import { expect, test } from "vitest";
import type { SandboxPiece } from "@platform/contract/sandbox";
import { describeShortfall, gradeSandbox } from "./grade.ts";

const lack = (...pieces: SandboxPiece[]) =>
  pieces.map((piece) => ({ piece, why: `No ${piece}.`, remedy: `Get ${piece}.` }));

test.each<[level: string, missing: readonly SandboxPiece[]]>([
  ["A", []],
  ["A", ["network"]],
  ["B", ["control groups"]],
  ["B", ["Landlock"]],
  ["B", ["Landlock", "control groups", "network"]],
  ["C", ["user namespaces"]],
  ["C", ["user namespaces", "control groups"]],
  ["D", ["user namespaces", "Landlock"]],
  ["D", ["seccomp"]],
  ["D", ["user namespaces", "seccomp", "Landlock", "control groups", "network"]],
])("level %s is what a machine without %j reaches", (level, missing) => {
  expect(gradeSandbox(lack(...missing)).level).toBe(level);
});

test("the operator learns what the required level lacks, and how to get it, and nothing else", () => {
  const report = gradeSandbox(lack("user namespaces", "Landlock", "control groups"));
  expect(describeShortfall(report, "B")).toBe(
    "This machine can isolate user code at level D only; level B is required.\n- user namespaces: No user namespaces. Get user namespaces.",
  );
});
