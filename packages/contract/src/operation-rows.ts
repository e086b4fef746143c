/** What the rows share that show something of the organisation. */
export const READS = {
  method: "GET",
  allows: "read",
  scope: "organisation",
  audit: null,
  rate: "read",
  bodyMode: "none",
  answerMode: "json",
} as const;

/** What the rows share that create or change something of the organisation; each says which action it is, and names itself in the audit log. */
export const WRITES = {
  method: "POST",
  scope: "organisation",
  rate: "write",
  bodyMode: "json",
  answerMode: "json",
} as const;

/** What the rows share that end something of the organisation. */
export const REMOVES = { ...WRITES, method: "DELETE", bodyMode: "none", answerMode: "none" } as const;
