import type { DEVICE_API } from "@platform/contract/platform-api/device";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { DeviceLogins } from "../accounts/device-login.ts";
import { readClientAddress } from "../base/client-address.ts";
import type { PlatformCaller } from "./caller.ts";
import { createClientLimit } from "./client-limit.ts";
import { DEVICE_PATH } from "./device-page.ts";

/** What the handlers work with. */
interface Deps {
  readonly identity: DeviceLogins;
  /** Origin of the platform API as browsers see it. */
  readonly apiUrl: string;
}

/** Logins that one client begins: each is a row for a day. */
const START_LIMIT = { burst: 20, perSecond: 0.1 };
/** Questions of one client: of as many logins as it may have begun in their ten minutes, each asked about every five seconds. */
const ASK_LIMIT = { burst: 80, perSecond: 16 };
const SECRET_HEADERS = { "cache-control": "no-store" };

/** Handlers of device logins, as far as programs call them. */
export function createDeviceHandlers({
  identity,
  apiUrl,
}: Deps): OperationHandlers<typeof DEVICE_API, PlatformCaller> {
  const limitStart = createClientLimit(START_LIMIT);
  // Programs that ask know this code of their standard, and ask less often.
  const limitAsk = createClientLimit(ASK_LIMIT, "SLOW_DOWN");
  return {
    startDeviceLogin: async ({ body, http }) => {
      limitStart(http);
      const login = await identity.startDeviceLogin({
        name: body.client_name ?? body.client_id ?? "A program",
        ip: readClientAddress(http),
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
    finishDeviceLogin: async ({ body, http }) => {
      limitAsk(http);
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
