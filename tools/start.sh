#!/bin/sh
# `npm start`: the console is built where it is missing or older than its sources, then the platform replaces this shell.
node tools/build-console.ts || echo "The platform starts without the console." >&2
exec node --max-semi-space-size=8 packages/platform/src/main.ts "$@"
