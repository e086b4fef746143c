import { Problem } from "@platform/contract/problems";
import { isPersonalAccessToken } from "./token-kinds.ts";

/**
 * The access token of an Authorization header (RFC 6750 section 2.1).
 * @throws Problem UNAUTHENTICATED
 */
export function readBearer(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthenticated(
      null,
      "Send an access token from the token endpoint: Authorization: Bearer <ACCESS_TOKEN>.",
    );
  }
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw unauthenticated(
      "invalid_request",
      "The Authorization header is not of the form Bearer <ACCESS_TOKEN>.",
    );
  }
  if (isPersonalAccessToken(token)) {
    throw unauthenticated(
      "invalid_token",
      "This is a personal access token. It is for the platform API, not for services. Exchange an application's access key for an access token at POST /token and use that.",
    );
  }
  return token;
}

/** A 401 with its challenge (RFC 6750 section 3); without an error code where no token was sent. */
export function unauthenticated(
  error: "invalid_request" | "invalid_token" | null,
  detail: string,
  otherChallenge?: string,
): Problem {
  const bearer = error === null ? 'Bearer realm="services"' : `Bearer realm="services", error="${error}"`;
  const challenge = otherChallenge === undefined ? bearer : `${otherChallenge}, ${bearer}`;
  return new Problem("UNAUTHENTICATED", detail, { headers: { "www-authenticate": challenge } });
}

/** The 401 for an access token that is not accepted, whatever the reason. */
export function refuseToken(): Problem {
  return unauthenticated(
    "invalid_token",
    "The access token is not valid here: it is malformed, expired or issued by another platform, or its access key was revoked, or its application deleted. Get a new one from the token endpoint.",
  );
}
