# Part of the scripts beside it: checks that end the script with a line, and a copy of this system that is thrown away.

fail() { echo "FAILED: $1" >&2; exit 1; }
# The command succeeds.
check() { local what="$1"; shift; "$@" >/dev/null || fail "$what"; echo "ok: $what"; }
# The command fails.
refuted() { local what="$1"; shift; if "$@" >/dev/null 2>&1; then fail "$what"; fi; echo "ok: $what"; }
equal() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; echo "ok: $1"; }
# The command prints a text, within two minutes.
becomes() {
  local what="$1" expected="$2" found=""
  shift 2
  for _ in $(seq 600); do
    found="$("$@" 2>/dev/null || true)"
    [ "$found" != "$expected" ] || { echo "ok: $what"; return 0; }
    sleep 0.2
  done
  fail "$what: '$found' instead of '$expected'"
}

# An overlay over / at $1/root, in a mount namespace of its own.
overlay() {
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$1"
  mkdir "$1/upper" "$1/work" "$1/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
  mount -t proc proc "$1/root/proc"
  mount -t tmpfs tmpfs "$1/root/run"
  mount -t tmpfs tmpfs "$1/root/tmp"
}

# The package $1 with version 99.0 and a comment in an unedited conffile, as $2.
later_version() {
  local files="${2%.deb}.files"
  dpkg-deb -R "$1" "$files"
  sed -i 's/^Version: .*/Version: 99.0/' "$files/DEBIAN/control"
  echo "# a comment of version 99" >> "$files/etc/default/troupe"
  dpkg-deb --root-owner-group -Zgzip -b "$files" "$2" >/dev/null
  rm -rf "$files"
}
