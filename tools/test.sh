#!/bin/sh
# `npm test`: the tests, with the command line as users have it: one bundle. Of hundreds of its calls each takes half of the time.
# Tests with the tag `full` run only where PLATFORM_TEST_FULL is set, as by `npm run test:full` (docs/development.md).
set -eu
cd "$(dirname "$0")/.."
node packages/cli/build.ts
PLATFORM_TEST_CLI="$PWD/packages/cli/dist/platform.js"
export PLATFORM_TEST_CLI
[ -n "${PLATFORM_TEST_FULL:-}" ] || set -- --tags-filter='!full' "$@"
exec vitest run "$@"
