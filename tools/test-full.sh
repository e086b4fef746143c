#!/bin/sh
# `npm run test:full`: all tests with all of their cases, which takes hours. What is not there to be tested against is skipped, and says so.
set -eu
cd "$(dirname "$0")/.."
node tools/s3-server.ts >/dev/null
export PLATFORM_TEST_FULL=1 PLATFORM_TEST_FILE_SECONDS=7200
exec sh tools/install-chromium.sh sh tools/test.sh "$@"
