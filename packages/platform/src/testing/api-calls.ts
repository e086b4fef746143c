import type { TestUser } from "./fixtures.ts";
import type { TestInstance } from "./instance.ts";

/** The answer to a call: its status and its JSON body, `{}` where there is none. */
interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Calls the platform API as a user: `await call(user, "PUT /me", { name: "Ada" })`. */
export type CallApi = (
  user: TestUser,
  request: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ApiAnswer>;

export function createApiCaller({ api }: TestInstance): CallApi {
  return async (user, request, body, headers = {}) => {
    const [method = "", path = ""] = request.split(" ");
    const response = await api.inject({
      method: readMethod(method),
      url: `/api${path}`,
      headers: {
        authorization: `Bearer ${user.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return {
      status: response.statusCode,
      body: response.body === "" ? {} : response.json<Readonly<Record<string, unknown>>>(),
    };
  };
}

function readMethod(method: string): "GET" | "POST" | "PUT" | "DELETE" {
  if (method === "GET" || method === "POST" || method === "PUT" || method === "DELETE") return method;
  throw new Error(`${method} is no method of the platform API.`);
}
