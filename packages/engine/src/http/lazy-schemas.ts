import { AjvCompiler } from "@fastify/ajv-compiler";
import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import type { AnyValidateFunction } from "ajv/dist/core.js";

type ValidatorFactory = ReturnType<typeof AjvCompiler>;
type SerializerFactory = ReturnType<typeof SerializerSelector>;

const buildValidator: ValidatorFactory = AjvCompiler();
const buildSerializer: SerializerFactory = SerializerSelector();

/**
 * Fastify's compilers, which compile a schema with the first value that it is for: a process has hundreds of operations of which its
 * callers use a few, and to compile all of them was a third of its start.
 */
export const LAZY_COMPILERS: {
  readonly buildValidator: ValidatorFactory;
  readonly buildSerializer: SerializerFactory;
} = {
  buildValidator: (schemas, options) => {
    const compile = buildValidator(schemas, options);
    return (route) => {
      let validate: AnyValidateFunction | undefined;
      const check = (value: unknown) => {
        validate ??= compile(route);
        const isValid = validate(value);
        // Where Fastify looks for what is wrong with the value.
        Object.assign(check, { errors: validate.errors });
        return isValid;
      };
      return check as AnyValidateFunction;
    };
  },
  buildSerializer: (schemas, options) => {
    const compile = buildSerializer(schemas, options);
    return (route) => {
      let write: ReturnType<typeof compile> | undefined;
      return (value) => (write ??= compile(route))(value);
    };
  },
};
