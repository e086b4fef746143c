import { Check } from "typebox/schema";
import { QueryClient } from "@tanstack/react-query";
import type { AnyRoute } from "@tanstack/react-router";
import { expect, test } from "vitest";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { QUANTUM_API } from "@platform/contract/quantum-api/quantum-api";
import type { OperationTable } from "@platform/contract/operation";
import { load } from "./api/queries.ts";
import type { Scope } from "./api/scope.tsx";
import { routeTree } from "./routes.ts";

const OPERATIONS: OperationTable = { ...PLATFORM_API, ...QUANTUM_API };
const PARAMS = { org: "own", id: "one", sid: "two", key: "three", version: "1.0.0" };
const ANSWER = { items: [], nextCursor: null, applicationId: PARAMS.id };

/** Parameters of the platform's lists, which no page has in its address. */
const OF_LISTS = ["cursor", "limit", "size", "sort", "name"];

interface Sent {
  readonly op: string;
  readonly query?: object;
}

/** A user who may ask for everything, of a platform that notes what it is asked for. */
function createScope(sent: Sent[]): Scope {
  const note = (_: unknown, op: string) => (request: object) => {
    sent.push({ ...request, op });
    return Promise.resolve(ANSWER);
  };
  return {
    api: new Proxy({}, { get: note }),
    key: "own",
    organisation: { role: "owner" },
    me: { operator: true },
    queries: new QueryClient(),
  } as unknown as Scope;
}

/** The routes whose loader asks for what the address says. */
function listLoading(route: AnyRoute): readonly AnyRoute[] {
  const children: readonly AnyRoute[] = Object.values(route.children ?? {});
  return [...(route.options.loaderDeps ? [route] : []), ...children.flatMap((child) => listLoading(child))];
}

/** What the page asks for where each parameter of its address has this value. */
async function open({ options }: AnyRoute, value: string): Promise<readonly Sent[]> {
  const names = new Set(OF_LISTS);
  const look = new Proxy({}, { get: (_, name) => void names.add(String(name)) });
  const validate = options.validateSearch as unknown as (raw: object) => object;
  validate(look);
  const raw = Object.fromEntries([...names].map((name) => [name, value]));
  // As the router does it.
  const deps: unknown = options.loaderDeps?.({ search: { ...raw, ...validate(raw) } as never });
  const sent: Sent[] = [];
  const scope = createScope(sent);
  const context = { scope, load: (query: never, most?: number) => load(scope, query, most) };
  await (options.loader as (given: object) => unknown)({ context, deps, params: PARAMS });
  return sent;
}

const dropSignal = (name: string, value: unknown) => (name === "signal" ? undefined : value);

/** Counts code points, as the platform does; `Check` counts what a reader takes for one letter. */
function isTooLong(query: object, { properties = {} }: { readonly properties?: object }): boolean {
  const limits = new Map(Object.entries<{ readonly maxLength?: number }>({ ...properties }));
  return Object.entries(query).some(
    ([name, value]) =>
      typeof value === "string" && Array.from(value).length > (limits.get(name)?.maxLength ?? Infinity),
  );
}

/** What the platform would refuse of it. */
function findRefused(sent: readonly Sent[]): readonly Sent[] {
  return sent.filter((request) => {
    const { op, query = {}, ...known }: Sent = JSON.parse(JSON.stringify(request, dropSignal)) as Sent;
    const schema = OPERATIONS[op]?.query;
    const hasNull = JSON.stringify({ query, known }).includes(String.raw`\u0000`);
    return hasNull || (schema !== undefined && (!Check(schema, query) || isTooLong(query, schema)));
  });
}

const routes = listLoading(routeTree).map((route) => [String(route.options.path), route] as const);

test.each(routes)(
  "whatever the address of %s says, its page asks for what the platform answers",
  async (_, route) => {
    const values = ["x\0", "x".repeat(3_000), "😀".repeat(3_000), "e\u0301".repeat(3_000), "999999999999999"];
    const sent = await Promise.all(values.map((value) => open(route, value)));
    expect(sent.flat().length).toBeGreaterThan(0);
    expect(findRefused(sent.flat())).toEqual([]);
  },
);
