import { Type } from "typebox";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { pageOf } from "../schemas.ts";
import { KeyParams } from "./common.ts";
import {
  NameParams,
  REMOVE_VARIABLE,
  SECRETS_API,
  SecretSchema,
  ServiceNameParams,
  describePut,
} from "./secrets.ts";

const VariableSchema = Type.Object(
  { ...SecretSchema.properties, value: Type.String({ description: "The value" }) },
  { title: "Variable", description: "A variable that is no secret" },
);

const VariablePage = { 200: { description: "One page", schema: pageOf("VariablePage", VariableSchema) } };

const PUT = describePut(
  "PutVariableRequest",
  Type.String({ maxLength: 8_192, description: "At most 8,192 characters; may be empty" }),
  VariableSchema,
);

/** Variables of services and organisations that are no secrets: members can read their values, and logs show them. */
export const VARIABLES_API = {
  listVariables: {
    ...READS,
    path: "/services/{key}/variables",
    summary: "List the variables of a service",
    description: "By name, with their values. Secrets have a list of their own.",
    params: KeyParams,
    query: PageQuery,
    responses: VariablePage,
    problems: SECRETS_API.listSecrets.problems,
  },
  putVariable: {
    ...PUT,
    path: "/services/{key}/variables/{name}",
    audit: "variable.put",
    summary: "Set a variable of a service",
    description:
      "Runs that begin seconds later have it in their environment, without a new version. It takes the place of the organisation's secret or variable of this name. Refused while the service has a secret of this name.",
    params: ServiceNameParams,
    problems: SECRETS_API.putSecret.problems,
  },
  deleteVariable: {
    ...REMOVE_VARIABLE,
    path: "/services/{key}/variables/{name}",
    audit: "variable.delete",
    summary: "Delete a variable of a service",
    description: "Runs that begin seconds later do not have it.",
    params: ServiceNameParams,
    problems: SECRETS_API.deleteSecret.problems,
  },
  listOrganizationVariables: {
    ...READS,
    path: "/variables",
    summary: "List the variables of the organisation",
    description: "By name, with their values. All services of the organisation have them.",
    query: PageQuery,
    responses: VariablePage,
  },
  putOrganizationVariable: {
    ...PUT,
    path: "/variables/{name}",
    audit: "organization-variable.put",
    summary: "Set a variable of the organisation",
    description:
      "Like a variable of a service, for all services of the organisation. Refused while the organisation has a secret of this name.",
    params: NameParams,
    problems: ["CONFLICT", "QUOTA_EXCEEDED"],
  },
  deleteOrganizationVariable: {
    ...REMOVE_VARIABLE,
    path: "/variables/{name}",
    audit: "organization-variable.delete",
    summary: "Delete a variable of the organisation",
    description: "Runs that begin seconds later do not have it.",
    params: NameParams,
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
