/* A real SMTP server on this machine, for stories with mail: that of the platform's own tests. */
export { startMailServer } from "../../packages/platform/src/testing/mail-server.ts";
export type { MailServer } from "../../packages/platform/src/testing/mail-server.ts";
