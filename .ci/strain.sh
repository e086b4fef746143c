# shellcheck shell=sh
# `strain quiet|loaded|confined` slows this shell and the processes that it starts; `relieve` undoes it.
busy_loops=""
quota=""

strain() {
  case "$1" in
    quiet) ;;
    loaded)
      start_busy_loop && start_busy_loop
      ;;
    confined)
      confine_by_quota || confine_by_neighbour
      ;;
  esac
}

relieve() {
  for pid in $busy_loops; do kill "$pid" 2>/dev/null; done
  busy_loops=""
  [ -z "$quota" ] || release_quota
}

start_busy_loop() {
  sh -c 'while :; do :; done' &
  busy_loops="$busy_loops $!"
}

# A quota of half a processor, by cgroup version 1 or 2; fails without the right to create a group.
confine_by_quota() {
  for root in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
    group="$root/platform-ci-$$"
    mkdir "$group" 2>/dev/null || continue
    if { echo 100000 >"$group/cpu.cfs_period_us" && echo 50000 >"$group/cpu.cfs_quota_us"; } 2>/dev/null ||
      { echo +cpu >"$root/cgroup.subtree_control" && echo "50000 100000" >"$group/cpu.max"; } 2>/dev/null; then
      if echo $$ >"$group/cgroup.procs"; then
        quota=$group
        taskset -cp 0 $$ >/dev/null
        return 0
      fi
    fi
    rmdir "$group"
  done
  return 1
}

release_quota() {
  echo $$ >"$(dirname "$quota")/cgroup.procs"
  rmdir "$quota" 2>/dev/null
  quota=""
}

# About half a processor: the busy loop shares the only core of the tests, at the same priority.
confine_by_neighbour() {
  taskset -cp 0 $$ >/dev/null
  start_busy_loop
}
