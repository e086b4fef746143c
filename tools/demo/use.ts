import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SECOND } from "@platform/engine/base/time";
import { expectOk, fetchAccessToken, request } from "../platform-client.ts";
import type { Answer, StatusRecord } from "../platform-client.ts";
import { storeInput } from "./store-input.ts";
import { PROJECT } from "./demo-cli.ts";
import type { DemoCli } from "./demo-cli.ts";
import { CAP, PLAN } from "./provide.ts";
import { remark, report } from "./report.ts";

/** The known optimum of TSPLIB's berlin52. */
const OPTIMUM = 7542;
const ALLOWED_EXCESS = 0.02;
const RESULT_WITHIN = 120 * SECOND;
const POLL_EVERY = 250;
const APPLICATION = "planner";

/** Who uses the service, and where. */
interface As {
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  readonly personalAccessToken: string;
}

/** What the customer has in the end. */
export interface Use {
  readonly subscriptionId: string;
  readonly endpointUrl: string;
  readonly keyId: string;
  readonly secret: string;
}

/** Finds the sample service in the marketplace, subscribes an application of the customer to it, and calls it until its cap. */
export async function use(cli: DemoCli, { gatewayUrl, apiUrl, personalAccessToken }: As): Promise<Use> {
  const { applicationId, ...subscribed } = await subscribe(cli);
  const endpointUrl = subscribed.endpointUrl.replace(/^https?:\/\/[^/]+/, gatewayUrl);
  const token = await fetchAccessToken(gatewayUrl, subscribed);
  report("POST /token", "an access token, for id and secret of the key");
  const input = await readInput();
  const { reference } = await storeInput({ apiUrl, token: personalAccessToken, applicationId });
  const { params } = input;
  await callUntilRefused(endpointUrl, token, [
    ...Array.from({ length: CAP - 1 }, () => input),
    { dataRef: reference, params },
  ]);
  return { ...subscribed, endpointUrl };
}

async function subscribe(cli: DemoCli): Promise<Use & { readonly applicationId: string }> {
  const found = await cli<readonly { serviceKey: string; serviceName: string; providerName: string }[]>(
    "marketplace",
    "search",
    "round trip",
  );
  const service = found.find(({ serviceName }) => serviceName === "tsp");
  if (service === undefined) throw new Error("the service is not in the marketplace");
  report(
    "platform marketplace search",
    `'round trip' finds ${service.serviceName} of ${service.providerName}`,
  );

  // That of a former demo has reached its cap.
  const former = await cli<readonly { id: string; name: string }[]>("applications", "ls");
  for (const { id } of former.filter(({ name }) => name === APPLICATION)) await cli("applications", "rm", id);
  const { id: applicationId } = await cli<{ id: string }>("applications", "create", APPLICATION);
  const { keyId, secret } = await cli<{ keyId: string; secret: string }>("keys", "create", APPLICATION);
  report("platform applications create", APPLICATION);
  remark(`and platform keys create: ${keyId}`);

  const { id, endpointUrl } = await cli<{ id: string; endpointUrl: string }>(
    "subscribe",
    service.serviceKey,
    APPLICATION,
    "--plan",
    PLAN,
  );
  report("platform subscribe", endpointUrl);
  return { subscriptionId: id, endpointUrl, keyId, secret, applicationId };
}

/** One call with each of the inputs, `CAP` of them, and one more. */
async function callUntilRefused(
  endpointUrl: string,
  token: string,
  inputs: readonly object[],
): Promise<void> {
  const start = (json: object = {}) => request<StatusRecord>("POST", endpointUrl, { token, json });
  for (const input of inputs) {
    const answer = await start(input);
    const { id } = await expectOk(Promise.resolve(answer));
    report(
      "dataRef" in input ? "POST .../ with dataRef" : "POST .../",
      `${answer.status}, ${readHeaders(answer, ["X-Quota-Limit", "X-Quota-Remaining"])}`,
    );
    const { status } = await poll(`${endpointUrl}${id}`, token);
    const { result } = await expectOk(
      request<{ result?: { length: number } }>("GET", `${endpointUrl}${id}/result`, { token }),
    );
    if (status !== "SUCCEEDED" || result === undefined) throw new Error(`the execution ended as ${status}`);
    report("GET .../ID and .../ID/result", `${status}, ${describeTour(result.length)}`);
  }
  const refused = (await start(inputs[0])) as Answer<{ code?: string; detail?: string }>;
  if (refused.status !== 429 || refused.body.code !== "QUOTA_EXCEEDED")
    throw new Error(`start ${CAP + 1} was answered ${refused.status}: ${JSON.stringify(refused.body)}`);
  report(
    "POST .../",
    `${refused.status} ${refused.body.code}, ${readHeaders(refused, ["X-Quota-Remaining", "X-Quota-Reset"])}`,
  );
  remark(refused.body.detail ?? "");
}

async function readInput(): Promise<{ readonly data: unknown; readonly params: unknown }> {
  const [data, params] = await Promise.all(
    ["data", "params"].map(
      async (name) => JSON.parse(await readFile(join(PROJECT, "input", `${name}.json`), "utf8")) as unknown,
    ),
  );
  return { data, params };
}

/** @throws Error when it takes too long */
async function poll(url: string, token: string): Promise<StatusRecord> {
  const deadline = Date.now() + RESULT_WITHIN;
  for (;;) {
    const record = await expectOk(request<StatusRecord>("GET", url, { token }));
    if (record.terminal) return record;
    if (Date.now() > deadline) throw new Error(`the execution is still ${record.status}`);
    await delay(POLL_EVERY);
  }
}

/** @throws Error where it is too long */
function describeTour(length: number): string {
  const excess = length / OPTIMUM - 1;
  if (excess > ALLOWED_EXCESS)
    throw new Error(`the tour is more than ${100 * ALLOWED_EXCESS} % above the optimum`);
  return `a tour of 52 cities, ${length} long, ${(100 * excess).toFixed(2)} % above the optimum`;
}

/** What the answer to a start says of the plan. */
function readHeaders({ headers }: Pick<Answer, "headers">, names: readonly string[]): string {
  return names.map((name) => `${name}: ${headers.get(name) ?? "absent"}`).join(", ");
}
