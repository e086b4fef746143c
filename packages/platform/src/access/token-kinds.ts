/** Prefix of personal access tokens, by which secret scanners and endpoints that do not accept them recognise them. */
export const PERSONAL_ACCESS_TOKEN_PREFIX = "plat_pat_";

/** Public half of an access key. */
export const ACCESS_KEY_ID_PREFIX = "plat_key_";

/** Secret half of an access key. */
export const ACCESS_KEY_SECRET_PREFIX = "plat_secret_";

/** Whether a token has the prefix of personal access tokens; says nothing about its validity. */
export function isPersonalAccessToken(token: string): boolean {
  return token.startsWith(PERSONAL_ACCESS_TOKEN_PREFIX);
}

const ACCESS_KEY_ID = new RegExp(`^${ACCESS_KEY_ID_PREFIX}[0-9a-f]{32}$`);

/** Whether a text has the form of an access key id; says nothing about its existence. */
export function isAccessKeyId(text: string): boolean {
  return ACCESS_KEY_ID.test(text);
}
