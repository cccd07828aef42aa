# Part of bin/node. Sets $heap, $initial and $young (in KiB) and $origin: where the size comes from.

# Sets $least to the value of a file if that is a number below $least.
lower() {
  local value=""
  [ ! -r "$1" ] || { IFS= read -r value < "$1" || true; } 2>/dev/null
  [[ ! "$value" =~ ^[0-9]{1,18}$ ]] || [ "$value" -eq 0 ] || [ "$value" -ge "$least" ] || { least="$value" origin="$2"; }
}

# Sets $least and $origin: the memory of the machine, or the lowest limit of this process's cgroup and its ancestors (v1 and v2). In a
# container the path of the cgroup is often not visible: then the mounted root is the cgroup of the container. TROUPE_ROOT is for tests.
memory() {
  local root="${TROUPE_ROOT:-}" name value unit id controllers path
  least=$((1 << 62)) origin=""
  while read -r name value unit; do
    if [ "$name" = MemTotal: ] && [[ "$value" =~ ^[0-9]+$ ]]; then least=$((value * 1024)) origin="machine"; fi
  done < "$root/proc/meminfo"
  while IFS=: read -r id controllers path; do
    case ",$controllers," in
      ,,) set -- "$root/sys/fs/cgroup" memory.max ;;
      *,memory,*) set -- "$root/sys/fs/cgroup/memory" memory.limit_in_bytes ;;
      *) continue ;;
    esac
    path="${path%/}"
    while :; do
      lower "$1$path/$2" cgroup
      [ -n "$path" ] || break
      path="${path%/*}"
    done
  done < "$root/proc/self/cgroup"
} 2>/dev/null

mebibyte=$((1 << 20))
if [ -n "${TROUPE_HEAP:-}" ]; then
  heap=0
  if [[ "$TROUPE_HEAP" =~ ^([0-9]{1,15})([kKmMgG]?)$ ]]; then
    case "${BASH_REMATCH[2]}" in k | K) unit=1024 ;; m | M) unit=$mebibyte ;; g | G) unit=$((1 << 30)) ;; *) unit=1 ;; esac
    heap=$((10#${BASH_REMATCH[1]} * unit))
  fi
  if [ "$heap" -lt $((32 * mebibyte)) ] || [ "$heap" -gt $((1 << 42)) ]; then
    why="TROUPE_HEAP = $TROUPE_HEAP is wrong: expected a size from 32m to 4096g, for example 256m"
    refuse "$@"
  fi
  origin="TROUPE_HEAP"
else
  memory "$@" || true
  if [ -z "$origin" ]; then
    heap=$((512 * mebibyte)) origin="memory unknown"
  else
    heap=$((least / 4))
    [ "$heap" -ge $((128 * mebibyte)) ] || heap=$((128 * mebibyte))
    [ "$heap" -le $((512 * mebibyte)) ] || heap=$((512 * mebibyte))
    origin="$origin memory $((least / mebibyte))m"
  fi
fi
heap=$((heap / 1024))
initial=$((heap < 131072 ? heap : 131072))
# The young generation starts small, because an idle member fills all of it with garbage once; it grows with the load.
young=$((initial / 16))
