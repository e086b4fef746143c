#!/bin/sh
# Unpacks Debian's bubblewrap below a directory, for users other than root. It needs no setuid bit where the kernel
# allows user namespaces for all users.
#   sh tools/unpack-bubblewrap.sh DIRECTORY
set -eu
target=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! apt-get download bubblewrap >/dev/null 2>&1; then
  mkdir -p lists/partial cache/archives/partial
  apt-get -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" update >/dev/null
  apt-get -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" download bubblewrap >/dev/null
fi
mkdir -p "$target"
dpkg-deb -x bubblewrap_*.deb "$target"
"$target/usr/bin/bwrap" --version
