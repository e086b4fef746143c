#!/bin/sh
# `npm test`: all tests, with the command line as users have it: one bundle. Of hundreds of its calls each takes half of the time.
set -eu
cd "$(dirname "$0")/.."
node packages/cli/build.ts
PLATFORM_TEST_CLI="$PWD/packages/cli/dist/platform.js"
export PLATFORM_TEST_CLI
exec vitest run "$@"
