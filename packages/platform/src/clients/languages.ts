/** A language for which there are clients. */
export type ClientLanguage = "java" | "javascript" | "python";
