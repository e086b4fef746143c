#!/bin/sh
# Makes sure that everything a command needs is installed, then becomes that command.
#   sh tools/run.sh COMMAND [ARGUMENT...]
# Installs: the npm packages of the lockfile; bubblewrap and Python's venv from Debian (as root by apt-get; as an
# ordinary user bubblewrap is unpacked below .cache, which needs no rights).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
called_from=$PWD
cd "$root"

if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  echo "Installing npm packages ..." >&2
  # Not `npm ci`: it refuses a lockfile without every optional package of every system, and mirrors may lag behind on some.
  npm install --no-save --no-audit --no-fund --loglevel=error >&2
  touch node_modules/.package-lock.json
fi

PATH="$root/node_modules/.bin:$root/.cache/system/usr/bin:$PATH"
# Keeps compiled, type-stripped modules: the platform is ready a quarter sooner and needs 30 MB less.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$root/.cache/node}"
export PATH NODE_COMPILE_CACHE

missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 ||
  /usr/bin/python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || missing="$missing python3-venv"

if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing system packages:$missing ..." >&2
  if [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 ||
      { apt-get update >/dev/null && apt-get install -y --no-install-recommends $missing >/dev/null; }
  else
    case "$missing" in *bubblewrap*) sh tools/unpack-bubblewrap.sh "$root/.cache/system" >&2 || true ;; esac
  fi
  hash -r
fi

cd "$called_from"
exec "$@"
