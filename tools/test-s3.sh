#!/bin/sh
# The end-to-end tests with an S3 server in place of the data directory's objects (tests/support/s3-store.ts).
#   npm run test:s3 [-- FILE...]
set -eu
server=$(node tools/s3-server.ts)
[ -n "$server" ] || exit 1
PLATFORM_TEST_STORE=s3 exec vitest run --project e2e "$@"
