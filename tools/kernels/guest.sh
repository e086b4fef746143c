#!/bin/sh
# Runs in the virtual machine (test.sh) as its first process: makes what systemd makes, and runs the tests in a delegated group.
#   guest.sh ROOT OWNER root|user ARGUMENTS SYSCTL    OWNER has the repository; the last two are lists of words in base64
root=$1 owner=$2 who=$3 words=$(echo "$4" | base64 -d) settings=$(echo "${5:-}" | base64 -d)
export PATH="$root/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/tmp CI=1 TERM=dumb
# Limits are for what hangs, and an emulated processor is slow.
export PLATFORM_TEST_STUCK_SECONDS=1200 PLATFORM_TEST_FILE_SECONDS=7200 PLATFORM_TEST_EXECUTION_SECONDS=1200

dmesg -n 1
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for folder in /dev/shm /tmp; do mount -t tmpfs -o mode=1777 tmpfs "$folder"; done
mount -t tmpfs tmpfs /run
mount -t securityfs securityfs /sys/kernel/security
mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
ip link set lo up
chmod 666 /dev/net/tun # as udev does
for setting in $settings; do sysctl -w "$setting"; done

# What Delegate=yes does (systemd.resource-control(5)), for a service of this user.
uid=0
[ "$who" = root ] || { uid=$owner && [ "$uid" -ne 0 ] || uid=1000; }
# vitest writes there; what another user's run has left cannot be written.
rm -rf "$root/node_modules/.vite-temp"
chown "$uid" "$root/node_modules"
services=/sys/fs/cgroup/system.slice
group=$services/tests.service
echo "+memory +cpu +pids" >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p "$group"
echo "+memory +cpu +pids" >"$services/cgroup.subtree_control"
mkdir -p "$group"
chown "$uid" "$group" "$group/cgroup.procs" "$group/cgroup.threads" "$group/cgroup.subtree_control"

cd "$root" || exit 1
uname -r
cat /sys/kernel/security/lsm && echo
# shellcheck disable=SC2016,SC2086
sh -c 'echo 0 >"$0/cgroup.procs" && exec setpriv --reuid "$1" --regid "$1" --clear-groups sh -c "$2"' "$group" "$uid" "
  node packages/engine/src/testing/say-level.ts && echo &&
  vitest run --project unit --no-file-parallelism --maxWorkers 1 --reporter verbose $words"
echo "the tests ended with $?"
echo o >/proc/sysrq-trigger
sleep 60
