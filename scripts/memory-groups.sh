# shellcheck shell=bash disable=SC2034 # what it sets is used by those who source it
# Control groups with a memory limit, for scripts that source this.

# Where such a group can be made. Sets $version, $parent and the names of the files by which a group of that version is
# asked; fails with the $reason where none can.
find_parent() {
  local point=/sys/fs/cgroup own unified
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
  # Version 2 alone, or beside version 1 with the memory controller its own.
  for unified in $point $point/unified; do
    grep -qsw memory "$unified/cgroup.controllers" || continue
    # A group that has processes of its own passes no controller on, unless it is the root.
    for parent in "$unified$own" $unified; do
      [ -w "$parent" ] || continue
      grep -qsw memory "$parent/cgroup.subtree_control" || continue
      version=2 limit_file=memory.max peak_file=memory.peak kill_file=memory.events
      return
    done
    reason="no group of version 2 here may be given a memory limit: neither $unified$own nor $unified is writable and passes the memory controller on"
    return 1
  done
  parent=$point/memory
  reason="there is no memory controller under $point"
  [ -d $parent ] || return 1
  reason="$parent is not writable"
  [ -w $parent ] || return 1
  version=1 limit_file=memory.limit_in_bytes peak_file=memory.max_usage_in_bytes kill_file=memory.oom_control
}

# Makes the group $1 with a limit of $2 bytes; fails with the $reason.
make_group_at() {
  reason="$1 cannot be made"
  mkdir "$1" 2>/dev/null || return 1
  reason="$1/$limit_file takes no limit"
  echo "$2" 2>/dev/null >"$1/$limit_file" || return 1
  reason="$1 takes no process"
  (echo "$BASHPID" >"$1/cgroup.procs") 2>/dev/null || return 1
  # Where there is swap, the limit would bound memory alone, and nothing be killed.
  local file
  for file in "$1/memory.swap.max" "$1/memory.swappiness"; do
    if [ -w "$file" ]; then echo 0 >"$file"; fi
  done
}

# A group goes only after its last process, and the system takes a moment to notice that.
remove_group_at() {
  local try
  for try in $(seq 50); do
    if rmdir "$1" 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "$1 cannot be removed (after $try attempts)" >&2
}
