/** Every personal access token begins with this, so that it is recognised where it does not belong (and by secret scanners). */
export const PERSONAL_ACCESS_TOKEN_PREFIX = "plat_pat_";

/** Public half of an access key. */
export const ACCESS_KEY_ID_PREFIX = "plat_key_";

/** Secret half of an access key. */
export const ACCESS_KEY_SECRET_PREFIX = "plat_secret_";

export function isPersonalAccessToken(token: string): boolean {
  return token.startsWith(PERSONAL_ACCESS_TOKEN_PREFIX);
}

const ACCESS_KEY_ID = new RegExp(`^${ACCESS_KEY_ID_PREFIX}[0-9a-f]{32}$`);

export function isAccessKeyId(text: string): boolean {
  return ACCESS_KEY_ID.test(text);
}
