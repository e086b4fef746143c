import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";

/** `platform whoami`: fails when the platform does not accept the token. */
export const whoamiCommand = defineCommand({
  name: "whoami",
  summary: "Show the user, the organisation and the platform in use",
  description: ["Sends a request to the platform, so it also checks the login."],
  arguments: {},
  options: {},
  examples: [{ command: "platform whoami", comment: "User, organisation and platform" }],
  run: async (context) => {
    const session = await openSession(context);
    const me = await session.client.getMe({});
    const tokenFrom =
      context.settings.personalAccessToken === undefined
        ? context.config.path
        : "PLATFORM_PERSONAL_ACCESS_TOKEN";
    const { organization } = me;
    context.output.print(`User          ${me.name} <${me.email}>`);
    context.output.print(`Organisation  ${organization.name} (${organization.id}), ${organization.role}`);
    context.output.print(`Platform      ${session.endpoint}`);
    context.output.print(`Token from    ${tokenFrom}`);
    return {
      json: {
        user: { id: me.id, email: me.email, name: me.name },
        organization,
        endpoint: session.endpoint,
        tokenFrom,
      },
      succeeded: true,
    };
  },
});
