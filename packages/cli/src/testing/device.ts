import type { DEVICE_API } from "@platform/contract/platform-api/device";
import { Problem } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import type { OperationHandlers } from "@platform/engine/http/types";

/** Page on which the peer's codes would be confirmed. */
export const DEVICE_PAGE = "https://platform.example.org/device";

/** Logins that are answered so, one question after the other, and then with the token. */
export function createDevice(
  token: string,
  answers: readonly ProblemCode[],
): OperationHandlers<typeof DEVICE_API, null> {
  const left = [...answers];
  return {
    startDeviceLogin: () => ({
      status: 200,
      body: {
        device_code: "device-code",
        user_code: "BCDF-GHJK",
        verification_uri: DEVICE_PAGE,
        verification_uri_complete: `${DEVICE_PAGE}?user_code=BCDF-GHJK`,
        expires_in: 600,
        interval: 0,
      },
    }),
    finishDeviceLogin: () => {
      const code = left.shift();
      if (code !== undefined) throw new Problem(code);
      return {
        status: 200,
        body: { access_token: token, token_type: "Bearer", expires_in: 60, scope: "admin" },
      };
    },
  };
}
