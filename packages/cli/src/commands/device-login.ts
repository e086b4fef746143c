import { hostname } from "node:os";
import { RequestRefused } from "@platform/contract/client";
import { SECOND } from "@platform/engine/base/time";
import type { CommandContext } from "../base/context.ts";
import { UserError, createInterruption } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { createPlatformClient } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";
import { openBrowser } from "./open-browser.ts";

const SLOWER_BY_SECONDS = 5;

/**
 * Logs in by a code that the user confirms in a browser, and returns the token. Null: this platform has no such login, or lets none begin
 * now.
 *
 * @throws UserError LOGIN_EXPIRED, LOGIN_REFUSED, INTERRUPTED
 */
export async function loginByDevice(context: CommandContext, endpoint: string): Promise<string | null> {
  const { output, settings, signal } = context;
  const client = createPlatformClient({ endpoint, token: null, organizationId: null, signal });
  const body = { client_name: `platform CLI on ${hostname()}`.slice(0, 120) };
  const begun = await client.startDeviceLogin({ body }).catch((error: unknown) => {
    if (error instanceof RequestRefused) return null;
    throw error;
  });
  if (begun === null) return null;
  output.note(`Open   ${cleanText(begun.verification_uri)}`);
  output.note(`and confirm the code   ${output.paintNote("bold", cleanText(begun.user_code))}`);
  output.note("It is valid for a few minutes. To paste a token instead: platform login --paste");
  await openBrowser(begun.verification_uri_complete, settings);
  const progress = output.startProgress("Waiting for the confirmation");
  try {
    return await waitForToken(client, begun, signal);
  } finally {
    progress.stop();
  }
}

async function waitForToken(
  client: PlatformClient,
  begun: { readonly device_code: string; readonly interval: number },
  signal: AbortSignal,
): Promise<string> {
  const ask = () => client.finishDeviceLogin({ body: { device_code: begun.device_code } });
  for (let seconds = begun.interval; ;) {
    await pause(seconds * SECOND, signal);
    if (signal.aborted) throw createInterruption();
    try {
      return (await retryRead(ask, signal)).access_token;
    } catch (error) {
      seconds += readDelay(error);
    }
  }
}

/** By how many seconds longer the next wait is. @throws what ends the login */
function readDelay(error: unknown): number {
  if (!(error instanceof RequestRefused)) throw error;
  switch (error.problem.code) {
    case "AUTHORIZATION_PENDING":
      return 0;
    case "SLOW_DOWN":
      return SLOWER_BY_SECONDS;
    case "EXPIRED_TOKEN":
      throw new UserError("LOGIN_EXPIRED", "The login was not confirmed in time.", {
        hint: "Run 'platform login' again.",
      });
    case "ACCESS_DENIED":
      throw new UserError("LOGIN_REFUSED", "The login was refused on the page.");
    default:
      throw error;
  }
}
