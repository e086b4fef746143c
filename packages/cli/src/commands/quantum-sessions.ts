import { MOST_SESSION_SECONDS } from "@platform/contract/quantum-api/sessions";
import { defineCommand } from "../base/command.ts";
import { createUsageError } from "../base/errors.ts";
import { openSession } from "../base/session.ts";

const ID = { id: { description: "Id of the session", required: true } } as const;

/** `platform quantum open`. */
export const openQuantumSessionCommand = defineCommand({
  name: "quantum open",
  summary: "Open a session on a backend",
  description: [
    "Prints its id. Its jobs (quantum run --session) run on the version that is the latest now, and go before other jobs of the organisation that wait.",
  ],
  arguments: {},
  options: {
    backend: { kind: "text", short: "b", placeholder: "id", description: "Id of the backend" },
    ttl: {
      kind: "number",
      placeholder: "seconds",
      description: "How long it is open",
      default: MOST_SESSION_SECONDS,
      minimum: 1,
      maximum: MOST_SESSION_SECONDS,
      isInteger: true,
    },
  },
  examples: [
    { command: "platform quantum open --backend sim.statevector --ttl 3600", comment: "For an hour" },
  ],
  run: async (context, { options: { backend, ttl } }) => {
    if (backend === undefined)
      throw createUsageError("Name the backend: --backend sim.statevector. 'platform backends' lists them.");
    const { quantum } = await openSession(context);
    const session = await quantum.createQuantumSession({
      body: { backend_id: backend, ttl, sdk_provider: "CLIENT" },
    });
    context.output.print(session.id);
    context.output.note(
      `Open on ${session.backend_id} ${session.backend_version} until ${session.expires_at}.`,
    );
    return { json: session, succeeded: true };
  },
});

/** `platform quantum close`. */
export const closeQuantumSessionCommand = defineCommand({
  name: "quantum close",
  summary: "Close a session",
  description: ["It takes no more jobs. Those that it has go on, or end with --cancel."],
  arguments: ID,
  options: { cancel: { kind: "flag", description: "Cancel its jobs" } },
  examples: [
    { command: "platform quantum close 0198c1de-7a53-7000-8000-000000000000", comment: "By its id" },
  ],
  run: async (context, { arguments: { id }, options: { cancel } }) => {
    const { quantum } = await openSession(context);
    const asked = { params: { id } };
    await (cancel ? quantum.cancelQuantumSession(asked) : quantum.closeQuantumSession(asked));
    const session = await quantum.getQuantumSession(asked);
    context.output.print(`The session is closed; it had ${session.job_count} jobs.`);
    return { json: session, succeeded: true };
  },
});
