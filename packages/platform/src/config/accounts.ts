/** Who can create an account: everybody, who is invited, nobody. */
export const SIGN_UP_MODES = ["open", "invitation", "closed"] as const;
/** One of `SIGN_UP_MODES`. */
export type SignUpMode = (typeof SIGN_UP_MODES)[number];

/** The OpenID provider at which users sign in. */
export interface OidcSettings {
  /** URL of the issuer, as its tokens say it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What people call it. */
  readonly name: string;
}

/** How mail is sent. */
export interface MailSettings {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the start. */
  readonly smtpUrl: string;
  /** Sender: one address. */
  readonly from: string;
}
