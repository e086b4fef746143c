import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { env, exit, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";

/*
 * The S3 server of the tests, versitygw (Apache-2.0), on a folder of this machine. Go builds it from its sources, once for each
 * checkout, and verifies them and all that they need by its checksum database:
 *   sh tools/run.sh node tools/s3-server.ts    builds it if it is missing, and prints its path
 * Without Go nothing is built: its tests are skipped then.
 */

const PACKAGE = "github.com/versity/versitygw/cmd/versitygw";
const VERSION = "v1.8.0";
/** What that version needs. */
const GO_MINOR = 25;
const SERVER = fileURLToPath(new URL(`../.cache/s3-server/${VERSION}/versitygw`, import.meta.url));

/** Path of the server; null where it was not built. */
export function findS3Server(): string | null {
  return existsSync(SERVER) ? SERVER : null;
}

function build(go: string): void {
  const folder = dirname(SERVER);
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(join(dirname(folder), "new-"));
  try {
    // The same flags everywhere: with others, Go compiles all 589 packages anew.
    execFileSync(go, ["install", "-trimpath", "-ldflags=-s -w", `${PACKAGE}@${VERSION}`], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...env, GOBIN: temporary, GOFLAGS: "", GOTOOLCHAIN: "local", CGO_ENABLED: "0" },
    });
    chmodSync(temporary, 0o755);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process has built it meanwhile.
    if (findS3Server() === null) throw error;
  }
}

/** The command of a Go that is new enough; null: there is none. */
function findGo(): string | null {
  return ["go", "/usr/local/go/bin/go"].find(isNewEnough) ?? null;
}

function isNewEnough(go: string): boolean {
  const { stdout: version } = spawnSync(go, ["env", "GOVERSION"], { encoding: "utf8" });
  const [, major, minor] = /^go(\d+)\.(\d+)/u.exec(version ?? "") ?? [];
  return Number(major) > 1 || (major === "1" && Number(minor) >= GO_MINOR);
}

function main(): void {
  if (findS3Server() === null) {
    const go = findGo();
    if (go === null) {
      stderr.write(`Go 1.${GO_MINOR} is missing, so tests against an S3 server are skipped.\n`);
      return;
    }
    stderr.write("Building the S3 server of the tests, which takes some minutes once ...\n");
    build(go);
  }
  stdout.write(`${SERVER}\n`);
}

if (import.meta.main) {
  try {
    main();
  } catch {
    stderr.write("The S3 server of the tests could not be built; what Go says is above.\n");
    exit(1);
  }
}
