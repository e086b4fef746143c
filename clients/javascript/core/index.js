export { Client } from "./client.js";
export {
  ClientError,
  ExecutionFailed,
  ExecutionUnknown,
  RequestRefused,
  ServerUnreachable,
  WaitTimeout,
} from "./errors.js";
export { FileReference, Result } from "./values.js";
