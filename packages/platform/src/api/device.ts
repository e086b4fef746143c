import type { DEVICE_API } from "@platform/contract/platform-api/device";
import { Problem } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";
import { createRequestLimit } from "../access/request-limit.ts";
import type { DeviceLogins } from "../accounts/device-login.ts";
import { nameNetwork, readClientAddress } from "../base/client-address.ts";
import type { PlatformCaller } from "./caller.ts";
import { DEVICE_PATH } from "./device-page.ts";

/** What the handlers work with. */
interface Deps {
  readonly identity: DeviceLogins;
  /** Origin of the platform API as browsers see it. */
  readonly apiUrl: string;
}

/** Logins that one client begins: each is a row for a day. */
const START_LIMIT = { burst: 20, perSecond: 0.1 };
const SECRET_HEADERS = { "cache-control": "no-store" };

/** Handlers of device logins, as far as programs call them. */
export function createDeviceHandlers({
  identity,
  apiUrl,
}: Deps): OperationHandlers<typeof DEVICE_API, PlatformCaller> {
  const limitStart = createRequestLimit(START_LIMIT);
  return {
    startDeviceLogin: async ({ body, http }) => {
      const ip = readClientAddress(http);
      refuseBeyond(limitStart(nameNetwork(ip)));
      const login = await identity.startDeviceLogin({
        name: body.client_name ?? body.client_id ?? "A program",
        ip,
        scopes: body.scope?.split(" ") ?? ["admin"],
      });
      const { deviceCode, userCode, expiresInSeconds, intervalSeconds } = login;
      const page = `${apiUrl}${DEVICE_PATH}`;
      return {
        status: 200,
        body: {
          device_code: deviceCode,
          user_code: userCode,
          verification_uri: page,
          verification_uri_complete: `${page}?user_code=${userCode}`,
          expires_in: expiresInSeconds,
          interval: intervalSeconds,
        },
        headers: SECRET_HEADERS,
      };
    },
    finishDeviceLogin: async ({ body }) => {
      const { token, scopes, expiresInSeconds } = await identity.finishDeviceLogin(body.device_code);
      return {
        status: 200,
        body: {
          access_token: token,
          token_type: "Bearer",
          expires_in: expiresInSeconds,
          scope: scopes.join(" "),
        },
        headers: SECRET_HEADERS,
      };
    },
  };
}

/** @throws Problem RATE_LIMITED unless `seconds` is 0 */
function refuseBeyond(seconds: number): void {
  if (seconds === 0) return;
  throw new Problem("RATE_LIMITED", `Too many requests; try again in ${seconds} seconds.`, {
    headers: { "retry-after": String(seconds) },
  });
}
