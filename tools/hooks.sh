#!/bin/sh
# `npm run hooks`: from now on git runs .githooks/pre-commit before each commit in this clone.
set -eu
cd "$(dirname "$0")/.."
present=$(git config --get core.hooksPath || true)
case "$present" in
  .githooks) echo "The hooks of .githooks are in use already." ;;
  "")
    git config --local core.hooksPath .githooks
    echo "git runs .githooks/pre-commit from now on. To undo: git config --local --unset core.hooksPath"
    ;;
  *)
    echo "core.hooksPath is set to $present already; it is left as it is." >&2
    exit 1
    ;;
esac
