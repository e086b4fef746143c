import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { SIGNING_ALGORITHM } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** Life of an access token, in seconds. What it opens is checked at every call, so a revocation does not wait for it. */
export const ACCESS_TOKEN_SECONDS = 3_600;

/** `typ` of the JWT's header (RFC 9068): no other kind of token can be taken for an access token. */
export const ACCESS_TOKEN_TYPE = "at+jwt";

export const ACCESS_TOKEN_SCOPE = "default";

/** Who a token speaks for. */
export interface TokenSubject {
  readonly applicationId: string;
  readonly keyId: string;
}

export interface IssuerOptions {
  readonly keys: SigningKeys;
  /** Origin of the gateway: issuer and audience of its tokens. */
  readonly issuer: string;
  readonly now?: () => number;
}

export type IssueToken = (subject: TokenSubject) => Promise<string>;

/** Signs access tokens (RFC 9068). */
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
