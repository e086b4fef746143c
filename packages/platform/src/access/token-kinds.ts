/** Prefix of personal access tokens, by which secret scanners and endpoints that do not accept them recognise them. */
export const PERSONAL_ACCESS_TOKEN_PREFIX = "plat_pat_";

/** Whether a token has the prefix of personal access tokens; says nothing about its validity. */
export function isPersonalAccessToken(token: string): boolean {
  return token.startsWith(PERSONAL_ACCESS_TOKEN_PREFIX);
}
