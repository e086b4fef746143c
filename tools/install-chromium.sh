#!/bin/sh
# Installs Debian's Chromium without windows, in which the stories of the console run, then replaces itself by the command that is given.
#   sh tools/install-chromium.sh [COMMAND ARGUMENT...]
# Without root, or where there is no apt-get, nothing is installed, and the stories are left out (vitest.config.ts).
set -eu
if ! command -v chromium-headless-shell >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Chromium ..." >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core >/dev/null 2>&1 ||
    { apt-get update >/dev/null && apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core >/dev/null; } ||
    echo "Chromium could not be installed; the stories of the console are left out." >&2
fi
[ "$#" = 0 ] || exec "$@"
