import { BackendDescriptionSchema } from "@platform/contract/quantum-api/description";
import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { findExcess } from "@platform/engine/input-schema/bounds";
import { ProjectError } from "@platform/engine/project/project-error";
import { createSchemaCheck } from "@platform/engine/project/schema-check";
import { AMOUNT_DECIMALS } from "@platform/contract/quantum-api/price";
import { parseAmount } from "../base/decimal.ts";

const check = createSchemaCheck<BackendDescription>(BackendDescriptionSchema);

/** What `describe` has returned, as it is stored and shown. @throws ProjectError BACKEND_NOT_DESCRIBED */
export function acceptDescription(description: unknown): BackendDescription {
  const excess = findExcess(description);
  if (excess !== null) throw refuse(`What describe() returns ${excess}.`);
  const checked = check(description);
  if ("faults" in checked)
    throw refuse(
      `What describe() returns is no description: ${checked.faults.map(({ path, message }) => `${path}: ${message}`).join(" ")}`,
    );
  const { configuration, price } = checked.value;
  for (const name of ["perJob", "perShot", "perSecond"] as const)
    if (price?.[name] !== undefined && parseAmount(price[name]) === null)
      throw refuse(
        `What describe() returns has a price whose ${name} has more than ${AMOUNT_DECIMALS} digits behind the point.`,
      );
  for (const name of ["shots_range", "total_shots_range", "qpy"] as const) {
    const range = configuration[name];
    if (range !== undefined && range.min > range.max)
      throw refuse(`What describe() returns has a ${name} whose min exceeds its max.`);
  }
  return checked.value;
}

function refuse(detail: string): ProjectError {
  return new ProjectError("BACKEND_NOT_DESCRIBED", detail);
}
