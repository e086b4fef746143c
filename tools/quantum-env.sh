#!/bin/sh
# Makes a virtual environment for tests of the quantum SDK below .cache, exactly as pinned, and prints where it is.
#   sh tools/quantum-env.sh [REQUIREMENTS]     default: sdk/python/requirements-tests.txt
# Ends with 3, and the reason, where the package index cannot be reached and the environment is not there yet.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pins=${1:-$root/sdk/python/requirements-tests.txt}
cache=$root/.cache/quantum
python=/usr/bin/python3
"$python" -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || python=python3
home=$cache/$(basename "$pins" .txt)-$({ "$python" --version && cat "$pins"; } | cksum | cut -d ' ' -f 1)

if [ ! -d "$home" ]; then
  echo "Installing what $(basename "$pins") lists ..." >&2
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  chmod 755 "$new"
  "$python" -m venv "$new"
  # Whole as pinned: nothing is resolved. Its scripts name the folder in which it was made, so it is used by `bin/python` alone.
  if ! "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --retries 2 -r "$pins" 2>"$new/pip.log"; then
    cat "$new/pip.log" >&2
    ! grep -qE 'connection broken by|Temporary failure|ConnectionError|ConnectTimeout|ReadTimeout' "$new/pip.log" || exit 3
    exit 1
  fi
  # Fails where another run has finished first: then its directory is used.
  mv -T "$new" "$home" 2>/dev/null || [ -d "$home" ]
fi
echo "$home"
