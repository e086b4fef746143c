/** Pattern of the names of variables; some that match are taken (`explainVariableName`). */
export const VARIABLE_NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";

const NAME = new RegExp(VARIABLE_NAME_PATTERN, "u");

/** What the platform sets itself. */
const OWN = /^(SERVICE_.*|PLATFORM_.*|OUTPUT_DIRECTORY|LOG_LEVEL|HOME|TMPDIR|PATH|PWD|LANG|LC_.*)$/iu;

/** What decides which code runs: the dynamic loader, the C library, interpreters, shells, native libraries with plugins. */
const LOADERS =
  /^(LD_.*|DYLD_.*|GLIBC_.*|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|PYTHON.*|BASH_.*|ENV|IFS|SHELLOPTS|PERL5.*|NODE_OPTIONS|OMP_.*|OPENBLAS_.*|MKL_.*|OPENSSL_.*)$/iu;

/** Why a variable cannot have this name, as a sentence; null: it can. */
export function explainVariableName(name: string): string | null {
  if (!NAME.test(name))
    return "It must be 1 to 128 letters, digits and underscores, and not begin with a digit.";
  if (OWN.test(name)) return `${name} is set by the platform; choose another name.`;
  if (LOADERS.test(name)) return `${name} changes which code is run or how; choose another name.`;
  return null;
}
