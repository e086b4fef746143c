#!/bin/sh
# Installs the tools that read our OpenAPI documents below .cache, exactly as pinned beside this script, and prints where they are.
#   sh tests/clients/install.sh node|python|java
# Ends with 3, and the reason, where Java or Maven are missing and cannot be installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$here/../.." && pwd)/.cache/clients
kind=$1
case "$kind" in
  node) pins=package-lock.json ;;
  python) pins=requirements.txt ;;
  java) pins=pom.xml ;;
  *) echo "unknown kind: $kind" >&2 && exit 2 ;;
esac
home=$cache/$kind-$(cksum <"$here/$pins" | cut -d ' ' -f 1)

has_java() {
  command -v javac >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1
}

require_java() {
  has_java && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Java and Maven ..." >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends default-jdk-headless maven; } \
      >/dev/null 2>&1 || true
  fi
  has_java && return
  echo "Java and Maven are missing and could not be installed (as root: default-jdk-headless and maven)." >&2
  exit 3
}

install_node() {
  cp "$here/package.json" "$here/package-lock.json" "$1"
  # Scripts of packages would download programs from elsewhere; none of these needs them.
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
}

install_python() {
  python=/usr/bin/python3
  "$python" -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || python=python3
  "$python" -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$here/requirements.txt" >&2
}

install_java() {
  mvn --batch-mode --quiet --file "$here/pom.xml" -DoutputDirectory="$1" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies >&2
}

[ "$kind" != java ] || require_java
if [ ! -d "$home" ]; then
  echo "Installing the OpenAPI tools for $kind ..." >&2
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  chmod 755 "$new"
  "install_$kind" "$new"
  # Fails where another run has finished first: then its directory is used.
  mv -T "$new" "$home" 2>/dev/null || [ -d "$home" ]
fi
echo "$home"
