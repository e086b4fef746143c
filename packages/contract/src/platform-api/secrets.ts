import { Type } from "typebox";
import type { TSchema } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { Nullable, Timestamp, pageOf } from "../schemas.ts";
import { KeyParams } from "./common.ts";

/** What is known of a secret; its value is shown to nobody. */
export const SecretSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the variable" }),
    revision: Type.Integer({
      description: "How often a secret or variable of this name was set or deleted, from 1",
    }),
    changedAt: Timestamp("When it was set last"),
    changedBy: Nullable(Type.String(), { description: "Name of the user who set it last" }),
  },
  { title: "Secret", description: "A secret, without its value" },
);

const SecretPage = { 200: { description: "One page", schema: pageOf("SecretPage", SecretSchema) } };

const SecretName = Type.String({ description: "Name of the variable: letters, digits and underscores" });
/** Of the organisation. */
export const NameParams = Type.Object({ name: SecretName });
/** Of a service. */
export const ServiceNameParams = Type.Object({ ...KeyParams.properties, name: SecretName });

/** How many characters a secret has: what is shorter could not be removed from logs. */
export const SECRET_LENGTH = { min: 8, max: 8_192 } as const;

/** What is common to operations that set a secret or a variable. */
export function describePut<V extends TSchema, A extends TSchema>(title: string, value: V, answer: A) {
  return {
    ...WRITES,
    allows: "edit",
    method: "PUT",
    body: Type.Object({ value }, { additionalProperties: false, title, description: "The new value" }),
    responses: { 200: { description: "Set", schema: answer } },
  } as const;
}

/** What is common to operations that delete a secret or a variable. */
export const REMOVE_VARIABLE = {
  ...REMOVES,
  allows: "edit",
  responses: { 204: { description: "Deleted" } },
} as const;

const PUT = describePut(
  "PutSecretRequest",
  Type.String({
    minLength: SECRET_LENGTH.min,
    maxLength: SECRET_LENGTH.max,
    description: "8 to 8,192 characters: what is shorter could not be removed from logs",
  }),
  SecretSchema,
);

/** Secrets of services and organisations: variables of the environment of runs whose values are write-only. */
export const SECRETS_API = {
  listSecrets: {
    ...READS,
    path: "/services/{key}/secrets",
    summary: "List the secrets of a service",
    description: "By name, without their values, which nobody can read.",
    params: KeyParams,
    query: PageQuery,
    responses: SecretPage,
    problems: ["SERVICE_NOT_FOUND"],
  },
  putSecret: {
    ...PUT,
    path: "/services/{key}/secrets/{name}",
    audit: "secret.put",
    summary: "Set a secret of a service",
    description:
      "Runs that begin seconds later have it in their environment, without a new version. It takes the place of the organisation's secret or variable of this name. Refused while the service has a variable of this name. What a run prints is stored without the value.",
    params: ServiceNameParams,
    problems: ["SERVICE_NOT_FOUND", "CONFLICT", "QUOTA_EXCEEDED"],
  },
  deleteSecret: {
    ...REMOVE_VARIABLE,
    path: "/services/{key}/secrets/{name}",
    audit: "secret.delete",
    summary: "Delete a secret of a service",
    description: "Runs that begin seconds later do not have it.",
    params: ServiceNameParams,
    problems: ["SERVICE_NOT_FOUND", "NOT_FOUND"],
  },
  listOrganizationSecrets: {
    ...READS,
    path: "/secrets",
    summary: "List the secrets of the organisation",
    description: "By name, without their values. All services of the organisation have them.",
    query: PageQuery,
    responses: SecretPage,
  },
  putOrganizationSecret: {
    ...PUT,
    path: "/secrets/{name}",
    audit: "organization-secret.put",
    summary: "Set a secret of the organisation",
    description:
      "Like a secret of a service, for all services of the organisation. Refused while the organisation has a variable of this name.",
    params: NameParams,
    problems: ["CONFLICT", "QUOTA_EXCEEDED"],
  },
  deleteOrganizationSecret: {
    ...REMOVE_VARIABLE,
    path: "/secrets/{name}",
    audit: "organization-secret.delete",
    summary: "Delete a secret of the organisation",
    description: "Runs that begin seconds later do not have it.",
    params: NameParams,
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
