/** Status of each error of the token endpoint (RFC 6749 section 5.2; the last three are not in the RFC). */
const OAUTH_ERRORS = {
  invalid_request: 400,
  invalid_client: 401,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  rate_limited: 429,
} as const satisfies Record<string, number>;

/** `error` in the body of a refusal. */
export type OAuthErrorCode = keyof typeof OAUTH_ERRORS;

/** A refusal of the token endpoint; its body is `{error, error_description}`. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: OAuthErrorCode,
    description: string,
    options: {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    } & ErrorOptions = {},
  ) {
    super(description, options);
    this.name = "OAuthError";
    this.code = code;
    this.status = options.status ?? OAUTH_ERRORS[code];
    this.headers = {
      ...(code === "invalid_client" ? { "www-authenticate": 'Basic realm="token", charset="UTF-8"' } : {}),
      ...options.headers,
    };
  }

  toBody(): { readonly error: string; readonly error_description: string } {
    return { error: this.code, error_description: this.message };
  }
}
