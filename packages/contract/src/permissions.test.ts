import { describe, expect, test } from "vitest";
import { can, explainRefusal, mayHandOn } from "./permissions.ts";
import type { Actor, Guarded, TokenScope } from "./permissions.ts";

const SESSION: Actor = { role: "owner", scopes: null, isOperator: false };
const READ: Guarded = { allows: "read", audit: null };
const EDIT: Guarded = { allows: "edit", audit: "thing.create" };
const OPERATE: Guarded = { allows: "operator", audit: null };

describe("an operation for operators", () => {
  test.each([
    ["an operator's session", { ...SESSION, isOperator: true }, true],
    ["an operator's token for everything", { ...SESSION, isOperator: true, scopes: ["admin"] }, true],
    ["an operator's token for less", { ...SESSION, isOperator: true, scopes: ["deploy"] }, false],
    ["an operator who is only a viewer here", { ...SESSION, isOperator: true, role: "viewer" }, true],
    ["an owner who is none", SESSION, false],
  ] as const)("is open to %s: %s", (_who, actor, isOpen) => {
    expect(can(actor, OPERATE)).toBe(isOpen);
  });
});

describe("role and scope", () => {
  test.each([
    ["viewer", ["admin"], "You are viewer of Lab; this needs the role maintainer or owner."],
    ["owner", ["run"], "This personal access token has the scope run; this needs the scope deploy or admin."],
    ["viewer", [], "This personal access token has the scope (none); this needs the scope deploy or admin."],
  ] as const)("are both needed: %s with %j is refused", (role, scopes, text) => {
    const actor = { role, scopes, isOperator: true };
    expect(can(actor, EDIT)).toBe(false);
    expect(explainRefusal(actor, "Lab", EDIT)).toBe(text);
  });

  test("several scopes open what any of them opens", () => {
    expect(can({ ...SESSION, scopes: ["quantum", "read"] }, READ)).toBe(true);
    expect(can({ ...SESSION, scopes: ["quantum"] }, READ)).toBe(false);
  });

  test("of who is no operator are not named as what is missing", () => {
    expect(explainRefusal(SESSION, "Lab", OPERATE)).toBe("Only operators of this platform may do this.");
  });
});

test.each([
  [["admin"], ["read", "run", "deploy", "admin", "quantum"]],
  [["deploy"], ["read", "run", "deploy", "quantum"]],
  [["run"], ["read", "run", "quantum"]],
  [["read"], ["read"]],
  [
    ["read", "quantum"],
    ["read", "quantum"],
  ],
  [["quantum"], ["quantum"]],
  [[], []],
] as const)("a token with %j may hand on %j", (held, handedOn) => {
  const all: readonly TokenScope[] = ["read", "run", "deploy", "admin", "quantum"];
  expect(all.filter((scope) => mayHandOn(held, scope))).toEqual(handedOn);
});
