import type { Configuration } from "openid-client";
import { isDisplayName } from "@platform/contract/platform-api/common";
import { Problem } from "@platform/contract/problems";
import { getMessage } from "@platform/engine/base/thrown";
import type { OidcSettings } from "../config/accounts.ts";

/** A user as the provider names them. */
export interface ExternalUser {
  readonly issuer: string;
  readonly subject: string;
  /** Null: the provider does not say that an address is theirs. */
  readonly verifiedEmail: string | null;
  /** Null: not said, or none that users may have here. */
  readonly name: string | null;
}

/** What the browser keeps between the two halves of a sign-in, in a cookie; base64url. */
type ExternalSecret = string;

/** Signing in at an OpenID provider: authorization code with PKCE, state and nonce. */
export interface OidcClient {
  /** What people call the provider. */
  readonly name: string;
  /** Where to send the browser, and what it must bring back. @throws Problem UNAVAILABLE */
  readonly start: () => Promise<{ readonly url: string; readonly secret: ExternalSecret }>;
  /** `parameters`: the query with which the provider sent the browser back. @throws Problem INVALID_CREDENTIALS, UNAVAILABLE */
  readonly finish: (parameters: string, secret: ExternalSecret) => Promise<ExternalUser>;
}

const TIMEOUT_SECONDS = 10;

/** Imported when somebody signs in by a provider: most processes never need it. */
const load = () => import("openid-client");

const MAX_NAME_LENGTH = 120;

/** Reads the provider's document at the first use, and again after a failure. `redirectUrl`: the console's page. */
export function createOidcClient(settings: OidcSettings, redirectUrl: string): OidcClient {
  let known: Promise<Configuration> | null = null;
  const discover = async (): Promise<Configuration> => {
    known ??= discoverProvider(settings);
    try {
      return await known;
    } catch (cause) {
      known = null;
      throw new Problem("UNAVAILABLE", `${settings.name} cannot be reached; try again later.`, { cause });
    }
  };
  return {
    name: settings.name,
    start: async () => {
      const configuration = await discover();
      const oidc = await load();
      const secret = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: "openid email profile",
        state: secret.state,
        nonce: secret.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secret.verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, secret: Buffer.from(JSON.stringify(secret)).toString("base64url") };
    },
    finish: async (parameters, text) => {
      const configuration = await discover();
      const secret = readSecret(text);
      const returned = new URL(redirectUrl);
      returned.search = parameters;
      try {
        return await readUser(configuration, returned, secret);
      } catch (cause) {
        const detail = `${settings.name} did not confirm who you are (${getMessage(cause)}); sign in again.`;
        throw new Problem("INVALID_CREDENTIALS", detail, { cause });
      }
    },
  };
}

async function discoverProvider({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const { allowInsecureRequests, discovery } = await load();
  const url = new URL(issuer);
  // The settings allow this for this machine only.
  const execute = url.protocol === "http:" ? [allowInsecureRequests] : [];
  return discovery(url, clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_SECONDS });
}

interface Secret {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

async function readUser(configuration: Configuration, returned: URL, secret: Secret): Promise<ExternalUser> {
  const { authorizationCodeGrant, fetchUserInfo } = await load();
  const tokens = await authorizationCodeGrant(configuration, returned, {
    pkceCodeVerifier: secret.verifier,
    expectedState: secret.state,
    expectedNonce: secret.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("there is no ID token");
  const said =
    claims["email"] === undefined
      ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : claims;
  const { email, email_verified: isVerified, name } = said;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    verifiedEmail: typeof email === "string" && isVerified === true ? email : null,
    name: typeof name === "string" ? readName(name) : null,
  };
}

function readName(said: string): string | null {
  const name = said.slice(0, MAX_NAME_LENGTH);
  return isDisplayName(name) ? name : null;
}

/** @throws Problem INVALID_INPUT */
function readSecret(text: string): Secret {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (
      typeof parsed === "object" &&
      parsed !== null &&
      "state" in parsed &&
      "nonce" in parsed &&
      "verifier" in parsed
    ) {
      const { state, nonce, verifier } = parsed;
      if (typeof state === "string" && typeof nonce === "string" && typeof verifier === "string")
        return { state, nonce, verifier };
    }
  } catch {
    // The same as below.
  }
  throw new Problem("INVALID_INPUT", "The cookie of this sign-in is broken; sign in again.");
}
