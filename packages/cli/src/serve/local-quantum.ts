import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@platform/engine/base/logger";
import { createQuantumRelay } from "@platform/engine/http/quantum-relay";
import type { Doorkeeper } from "@platform/engine/base/door";
import type { OpenQuantum } from "@platform/engine/worker/run-claim";

/** Who uses the quantum API of which platform. */
export interface QuantumLogin {
  /** Without a final slash. */
  readonly endpoint: string;
  readonly token: string;
  /** Null: the user's own. */
  readonly organizationId: string | null;
}

/** What lets executions use the quantum API as the developer. */
export interface LocalQuantum {
  readonly doorkeeper: Doorkeeper;
  readonly openQuantum: OpenQuantum;
}

/**
 * Executions get a token that is good at the door of their sandbox alone, and only as long as this server runs. The login stays with the server,
 * which sends it to the platform with requests to the quantum API.
 */
export function createLocalQuantum(
  { endpoint, token, organizationId }: QuantumLogin,
  logger: Pick<Logger, "warn">,
): LocalQuantum {
  const own = `plat_run_${randomBytes(32).toString("base64url")}`;
  const authorize = (headers: IncomingHttpHeaders): IncomingHttpHeaders | null => {
    const { authorization, "x-auth-token": plain, "x-organizationid": _organisation, ...others } = headers;
    const shown = plain ?? authorization?.replace(/^bearer +/iu, "");
    if (shown !== own) return null;
    return {
      ...others,
      "x-auth-token": token,
      ...(organizationId === null ? {} : { "x-organizationid": organizationId }),
    };
  };
  return {
    doorkeeper: createQuantumRelay({ target: () => endpoint, authorize, logger }),
    openQuantum: () => ({ token: own, published: true }),
  };
}
