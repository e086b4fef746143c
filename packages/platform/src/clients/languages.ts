/** The languages for which there are clients. */
export const CLIENT_LANGUAGES = ["java", "javascript", "python"] as const;

/** A language for which there are clients. */
export type ClientLanguage = (typeof CLIENT_LANGUAGES)[number];
