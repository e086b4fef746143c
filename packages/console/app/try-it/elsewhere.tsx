import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import { toCurl, toJava, toJavaScript, toPython } from "@platform/contract/snippets/requests";
import type { ShownRequest } from "@platform/contract/snippets/requests";
import { API_PATH } from "../api/client.ts";
import { useOrganisation } from "../api/scope.tsx";
import type { Schema } from "../util/json-schema.ts";
import { SameElsewhere } from "./same-elsewhere.tsx";

const LANGUAGES = [
  { label: "curl", language: "bash", what: "curl command", write: toCurl },
  { label: "Python", language: "python", what: "Python program", write: toPython },
  { label: "JavaScript", language: "javascript", what: "JavaScript program", write: toJavaScript },
  { label: "Java", language: "java", what: "Java program", write: toJava },
] as const;

/** A start without its body. */
export interface ShownStart {
  readonly op: "startJob" | "startSubscriptionExecution";
  readonly request: Omit<ShownRequest["request"], "body">;
}

interface ElsewhereProps {
  readonly start: ShownStart;
  /** JSON text of a start's body. */
  readonly text: string;
  readonly inputSchema: Schema | null;
}

/** The same start as code, and what the input may be. */
export function Elsewhere({ start: { op, request }, text, inputSchema }: ElsewhereProps) {
  const { id } = useOrganisation();
  const asked = {
    route: PLATFORM_ROUTES[op],
    baseUrl: `${globalThis.location.origin}${API_PATH}`,
    request: { ...request, body: { json: text } },
    headers: { "X-OrganizationId": id },
  };
  const programs = LANGUAGES.map(({ write, ...program }) => ({ ...program, write: () => write(asked) }));
  return <SameElsewhere programs={programs} text={text} inputSchema={inputSchema} />;
}
