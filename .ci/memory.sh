# shellcheck shell=sh
# `use_memory` has temporary files of this shell and of the processes that it starts in a folder of their own: in memory where there is
# enough, which takes the system a sixth of the time to make and to remove some hundred thousand files. `leave_memory` removes it.
scratch=""
in_memory=""

use_memory() {
  # A short name: sockets below it have 107 bytes for theirs.
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/t.XXXX") || return 0
  if [ "$(id -u)" = 0 ] && has_memory 16 &&
    mount -t tmpfs -o mode=1777,size=10g tests "$scratch" 2>/dev/null; then
    in_memory=yes
    # As the S3 server of the tests needs them; Linux before 6.6 has none in memory.
    python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.test", b"")' "$scratch" 2>/dev/null || leave_mount
  fi
  chmod 1777 "$scratch"
  export TMPDIR="$scratch"
}

leave_memory() {
  [ -n "$scratch" ] || return 0
  # What a test has left running, e.g. its PostgreSQL.
  pkill -KILL -f -- "$scratch/"
  leave_mount
  rm -rf --one-file-system "$scratch" 2>/dev/null
}

leave_mount() {
  [ -z "$in_memory" ] || umount -l "$scratch" 2>/dev/null
  in_memory=""
}

# Whether so many GB are available, also to a container with a limit.
has_memory() {
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo 2>/dev/null)
  [ "${available:-0}" -ge "$1" ] || return 1
  for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    most=$(cat "$file" 2>/dev/null) || continue
    [ "$most" = max ] || [ $((most / 1024 / 1024 / 1024)) -ge "$1" ] || return 1
  done
}
