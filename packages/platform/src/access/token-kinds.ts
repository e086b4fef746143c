/** Prefix of personal access tokens, by which secret scanners and endpoints that do not accept them recognise them. */
export const PERSONAL_ACCESS_TOKEN_PREFIX = "plat_pat_";

/** Prefix of the tokens that executions use quantum backends with. */
export const EXECUTION_TOKEN_PREFIX = "plat_run_";

/** Whether a token has the prefix of those of executions; says nothing about its validity. */
export function isExecutionToken(token: string): boolean {
  return token.startsWith(EXECUTION_TOKEN_PREFIX);
}

/** Whether a token has the prefix of personal access tokens; says nothing about its validity. */
export function isPersonalAccessToken(token: string): boolean {
  return token.startsWith(PERSONAL_ACCESS_TOKEN_PREFIX);
}
