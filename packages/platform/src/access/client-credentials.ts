import { OAuthError } from "./oauth-error.ts";

/** Key id and secret as the client sent them. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

const MAX_LENGTH = 512;

/**
 * Reads a client_credentials request (RFC 6749 sections 2.3.1 and 4.4.2): credentials by HTTP Basic or in the form, never both.
 * `form` is the body of type application/x-www-form-urlencoded.
 * @throws OAuthError invalid_request, invalid_client, unsupported_grant_type, invalid_scope
 */
export function readTokenRequest(authorization: string | undefined, form: string): ClientCredentials {
  const fields = new URLSearchParams(form);
  const seen = new Set<string>();
  // Linear time: the caller is not authenticated yet, and a form may have thousands of parameters.
  for (const name of fields.keys()) {
    if (seen.has(name))
      throw new OAuthError("invalid_request", `The parameter ${name.slice(0, 50)} is given twice.`);
    seen.add(name);
  }
  const grantType = fields.get("grant_type");
  if (grantType === null || grantType === "")
    throw new OAuthError("invalid_request", "The parameter grant_type is missing.");
  if (grantType !== "client_credentials") {
    throw new OAuthError("unsupported_grant_type", "The only grant type is client_credentials.");
  }
  const scope = fields.get("scope");
  if (scope !== null && scope !== "" && scope !== "default")
    throw new OAuthError("invalid_scope", "The only scope is default.");
  return readCredentials(authorization, fields);
}

function readCredentials(authorization: string | undefined, fields: URLSearchParams): ClientCredentials {
  const clientId = fields.get("client_id");
  const clientSecret = fields.get("client_secret");
  if (authorization === undefined) {
    if (clientId === null || clientSecret === null) {
      throw new OAuthError(
        "invalid_client",
        "Send the access key by HTTP Basic, or as client_id and client_secret.",
      );
    }
    return limitLength({ clientId, clientSecret });
  }
  const credentials = readBasicCredentials(authorization);
  if (clientSecret !== null) {
    throw new OAuthError("invalid_request", "Send the access key by HTTP Basic or in the form, not by both.");
  }
  if (clientId !== null && clientId !== credentials.clientId) {
    throw new OAuthError("invalid_request", "client_id in the form is not that of the Authorization header.");
  }
  return credentials;
}

/** Reads key id and secret from an Authorization header of HTTP Basic. @throws OAuthError invalid_client */
export function readBasicCredentials(authorization: string): ClientCredentials {
  const basic = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization);
  const decoded = basic?.[1] === undefined ? "" : Buffer.from(basic[1], "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  if (colon < 0)
    throw new OAuthError(
      "invalid_client",
      "The Authorization header is not HTTP Basic with key id and secret.",
    );
  try {
    return limitLength({
      clientId: decodeFormValue(decoded.slice(0, colon)),
      clientSecret: decodeFormValue(decoded.slice(colon + 1)),
    });
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause;
    throw new OAuthError(
      "invalid_client",
      "Key id and secret in HTTP Basic are not percent-encoded properly.",
    );
  }
}

function decodeFormValue(value: string): string {
  return decodeURIComponent(value.replaceAll("+", " "));
}

function limitLength(credentials: ClientCredentials): ClientCredentials {
  const { clientId, clientSecret } = credentials;
  if (clientId.length > MAX_LENGTH || clientSecret.length > MAX_LENGTH) {
    throw new OAuthError("invalid_client", "This is not an access key.");
  }
  return credentials;
}
