#!/bin/sh
# `npm run test:kernels`: tests of the isolation in a virtual machine with one of Debian's kernels, control groups of version 2 and this
# system's files, which it cannot change. Needs Debian on x86_64, and its packages qemu-system-x86 and busybox-static.
#   sh tools/kernels/test.sh                                  those of RUNS with TESTS; fails when one of them has failed
#   sh tools/kernels/test.sh PACKAGE root|user [ARGUMENT...]  one of them; with arguments of vitest (files, -t NAME)
# GUEST_PARAMETERS: parameters of the kernel (lsm=yama: without Landlock). GUEST_SYSCTL: settings (user.max_user_namespaces=0).
# ACCELERATOR: kvm; by default the processor is emulated, ten times slower.
set -eu
RUNS="linux-image-amd64:user linux-image-6.12-amd64:root"
# What the kernel does for level A: the other levels need nothing that differs between the two.
TESTS="packages/engine/src/python/sandbox/cgroups packages/engine/src/python/sandbox/find-sandbox.test.ts
  packages/engine/src/python/pool/slot-book.test.ts packages/engine/src/python/limits.test.ts
  packages/engine/src/python/siblings.test.ts"
NAMES='^(?!.*level [BC])'
MODULES="fs/9p fs/fscache fs/netfs fs/overlayfs net/9p net/xfrm drivers/virtio drivers/net/tun.ko"
LIMIT_SECONDS=3600

root=$(cd "$(dirname "$0")/../.." && pwd)
case $root in /tmp/* | /run/*) echo "The machine has folders of its own at /tmp and /run: move the repository." >&2 && exit 1 ;; esac
for program in qemu-system-x86_64 busybox dpkg-deb; do
  command -v "$program" >/dev/null || { echo "$program is missing: apt-get install qemu-system-x86 busybox-static" >&2 && exit 1; }
done

# Unpacks the kernel and its modules to $home, once.
fetch() {
  # The package depends on the one of the current version, which is named after it.
  current=$(apt-cache depends --important "$1" | sed -n 's/^ *Depends: \(linux-image-\)/\1/p' | head -n 1)
  home=$root/.cache/kernels/${current:?"apt knows no package $1"}
  [ -d "$home/lib" ] || {
    rm -rf "$home" && mkdir -p "$home"
    (cd "$home" && apt-get download "$current" >/dev/null && dpkg-deb -x ./*.deb . && rm ./*.deb)
  }
}

# The first file system of the machine, in memory: busybox, modules, init.sh.
pack() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  release=$(ls "$home/lib/modules")
  mkdir -p "$work/bin" "$work/lib/modules/$release"
  cp "$(command -v busybox)" "$work/bin/busybox"
  cp "$home/lib/modules/$release"/modules.* "$work/lib/modules/$release"
  for module in $MODULES; do
    for path in "$home/lib/modules/$release/kernel/$module"*; do
      to=$work/lib/modules/$release/kernel/$(dirname "$module")
      [ ! -e "$path" ] || { mkdir -p "$to" && cp -r "$path" "$to"; }
    done
  done
  find "$work/lib" -name '*.xz' -exec busybox unxz {} +
  busybox depmod -b "$work" "$release"
  install -m 755 "$root/tools/kernels/init.sh" "$work/init"
  (cd "$work" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$home/initrd"
  rm -rf "$work"
}

# The words as a shell reads them: -t has a pattern.
quote() {
  for word in "$@"; do printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"; done
}

# Tests with one kernel and user; the last line that the machine prints has their status.
boot() {
  fetch "$1"
  pack
  guest="$root $(id -u) $2 $(printf '%s' "$3" | base64 -w 0) $(printf '%s' "${GUEST_SYSCTL:-}" | base64 -w 0)"
  echo "== $(basename "$home"), $2"
  timeout "$LIMIT_SECONDS" nice -n 10 qemu-system-x86_64 -accel "${ACCELERATOR:-tcg}" -cpu max -m 4096 \
    -nodefaults -nographic -no-reboot -serial stdio -kernel "$home"/boot/vmlinuz-* -initrd "$home/initrd" \
    -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
    -append "console=ttyS0 quiet panic=-1 ${GUEST_PARAMETERS:-} -- $guest" | tee "$home/log"
  tr -d '\r' <"$home/log" | grep -q "the tests ended with 0$" # vitest leaves codes for terminals before it
}

if [ $# -ge 2 ]; then
  package=$1 who=$2
  shift 2
  # shellcheck disable=SC2086
  [ $# -gt 0 ] || set -- $TESTS -t "$NAMES"
  boot "$package" "$who" "$(quote "$@")"
  exit
fi
status=0
for run in $RUNS; do
  # shellcheck disable=SC2086
  boot "${run%:*}" "${run#*:}" "$(quote $TESTS -t "$NAMES")" || status=1
done
exit "$status"
