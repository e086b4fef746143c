import type { Login } from "./platform-process.ts";

export interface StatusRecord {
  readonly id: string;
  readonly status: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "UNKNOWN";
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly terminal: boolean;
}

export interface Answer<T = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** One HTTP request as a program of a user would make it; the answer's body is JSON, or text where it is not. */
export async function request<T = Readonly<Record<string, unknown>>>(
  method: string,
  url: string,
  options: {
    readonly token?: string;
    readonly json?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | URLSearchParams | Uint8Array<ArrayBuffer>;
  } = {},
): Promise<Answer<T>> {
  const response = await fetch(url, {
    method,
    headers: {
      accept: "application/json",
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.json === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(options.json === undefined ? {} : { body: JSON.stringify(options.json) }),
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: readBody(text) as T };
}

function readBody(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Subscription {
  readonly id: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly endpointUrl: string;
}

/** Publishes a service internally and subscribes a new application to it, as the console's user would. */
export async function subscribe(login: Login, serviceKey: string, name: string): Promise<Subscription> {
  const api = <T>(method: string, path: string, json?: unknown) =>
    expectOk(
      request<T>(method, `${login.apiUrl}/api${path}`, {
        token: login.personalAccessToken,
        ...(json === undefined ? {} : { json }),
      }),
    );
  await api("POST", `/services/${serviceKey}/publish`, { scope: "internal" });
  const { id: applicationId } = await api<{ id: string }>("POST", "/applications", { name });
  const { keyId, secret } = await api<{ keyId: string; secret: string }>(
    "POST",
    `/applications/${applicationId}/access-keys`,
  );
  const { id, endpointUrl } = await api<{ id: string; endpointUrl: string }>("POST", "/subscriptions", {
    applicationId,
    serviceKey,
  });
  return { id, applicationId, keyId, secret, endpointUrl };
}

export async function expectOk<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { status, body } = await answer;
  if (status >= 400) throw new Error(`the platform answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** An access token by the client_credentials grant. */
export async function fetchAccessToken(
  gatewayUrl: string,
  { keyId, secret }: Pick<Subscription, "keyId" | "secret">,
): Promise<string> {
  const answer = await expectOk(
    request<{ access_token: string }>("POST", `${gatewayUrl}/token`, {
      headers: { authorization: `Basic ${btoa(`${keyId}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    }),
  );
  return answer.access_token;
}
