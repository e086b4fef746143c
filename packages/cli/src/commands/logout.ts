import { defineCommand } from "../base/command.ts";

/** `platform logout`: keeps the stored endpoint and does not revoke the token. Sends no request. */
export const logoutCommand = defineCommand({
  name: "logout",
  summary: "Remove the stored token and context",
  description: [
    "The token itself stays valid until it expires or is revoked on the platform. The stored endpoint is kept.",
  ],
  arguments: {},
  options: {},
  examples: [{ command: "platform logout", comment: "Remove the stored login" }],
  run: async (context) => {
    let wasLoggedIn = false;
    await context.config.update(({ endpoint, personalAccessToken }) => {
      wasLoggedIn = personalAccessToken !== undefined;
      return endpoint === undefined ? {} : { endpoint };
    });
    context.output.print(wasLoggedIn ? "Logged out." : "There was no stored login.");
    if (context.settings.personalAccessToken !== undefined) {
      context.output.note("PLATFORM_PERSONAL_ACCESS_TOKEN is set and is still used.");
    }
    return { json: { wasLoggedIn }, succeeded: true };
  },
});
