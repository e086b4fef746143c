import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { ACCESS_TOKEN_SECONDS, SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** `typ` of the JWT's header (RFC 9068), so that no other kind of token is accepted as an access token. */
export const ACCESS_TOKEN_TYPE = "at+jwt";

/** The only scope there is. */
export const ACCESS_TOKEN_SCOPE = "default";

/** The application that a token was issued to, and the access key that it was issued for. */
export interface TokenSubject {
  readonly applicationId: string;
  readonly keyId: string;
}

/** What an issuer works with. */
export interface IssuerOptions {
  readonly keys: SigningKeys;
  /** Origin of the gateway: issuer and audience of its tokens. */
  readonly issuer: string;
  /** Milliseconds since the epoch; default: `Date.now`. */
  readonly now?: () => number;
}

/** Issues a signed access token (JWT), valid for ACCESS_TOKEN_SECONDS. */
export type IssueToken = (subject: TokenSubject) => Promise<string>;

/** Creates the function that signs access tokens (RFC 9068). */
export function createTokenIssuer(options: IssuerOptions): IssueToken {
  const now = options.now ?? Date.now;
  return async ({ applicationId, keyId }) => {
    const { kid, privateKey } = await options.keys.current();
    const issuedAt = Math.floor(now() / 1_000);
    return await new SignJWT({ client_id: keyId, scope: ACCESS_TOKEN_SCOPE })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid })
      .setIssuer(options.issuer)
      .setAudience(options.issuer)
      .setSubject(applicationId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
      .sign(privateKey);
  };
}
