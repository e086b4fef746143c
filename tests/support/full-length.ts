/** Stories talk to binaries and HTTP only, and take this from here. */
export { IS_FULL_LENGTH } from "@platform/engine/testing/full-length";
