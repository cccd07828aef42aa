#!/bin/bash
# Life of the Debian package: installation, member under its own user, upgrade, removal, purge. Runs on a throw-away copy of this system:
# an overlay over /, in namespaces of its own for mounts, processes and network. Ends with the status of the first failed check.
#
#   lifecycle.sh PACKAGE WORK
set -euo pipefail

if [ "${3:-}" != inside ]; then
  package="$(readlink -f "$1")" work="$(readlink -f "$2")"
  exec unshare --mount --pid --net --fork bash "$0" "$package" "$work" inside
fi

. "${0%/*}/checks.sh"
package="$1" work="$2" root="$2/root"
mkdir -p "$work"
ip link set lo up
overlay "$work"
mount --rbind /dev "$root/dev"
cp "$package" "$root/tmp/first.deb"
later_version "$package" "$root/tmp/later.deb"

inside() { chroot "$root" "$@"; }
fail() { echo "FAILED: $1" >&2; [ ! -f "$root/tmp/member.log" ] || cat "$root/tmp/member.log" >&2; exit 1; }

# Where Java is not a package of Debian the dependency cannot be checked.
options=()
inside dpkg-query -W -f '${Status}\n' 'openjdk-*-jre-headless' 2>/dev/null | grep -q "ok installed" || options=(--force-depends)
install_package() {
  inside dpkg "${options[@]}" --force-confdef --force-confold -i "$1" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log" >&2; fail "dpkg -i $1"; }
}

# For background processes: the process itself is the program.
exec_inside() { exec chroot "$root" "$@"; }

# Starts the member as the unit does: its user, directory and variables.
start() {
  exec_inside setpriv --reuid=troupe --regid=troupe --init-groups --no-new-privs env -C /var/lib/troupe \
    TROUPE_CACHE=/var/cache/troupe TROUPE_ARCHIVE=off TROUPE_HEAP=256m HOME=/var/lib/troupe JAVA_HOME="${JAVA_HOME:-}" \
    /usr/share/troupe/bin/node -Dconfig.file=/etc/troupe/node.conf >"$root/tmp/member.log" 2>&1 &
  member=$!
  for _ in $(seq 600); do
    ! grep -q "ready to serve client requests" "$root/tmp/member.log" || return 0
    kill -0 "$member" 2>/dev/null || fail "the member ended"
    sleep 0.1
  done
  fail "the member is not ready"
}
stop() {
  kill -TERM "$member"
  local status=0
  wait "$member" || status=$?
  equal "status of a stopped member" "$status" 143
}

refuted "no user before" inside getent passwd troupe
install_package /tmp/first.deb
check "user" inside getent passwd troupe
equal "shell of the user" "$(inside getent passwd troupe | cut -d: -f6-7)" "/var/lib/troupe:/usr/sbin/nologin"
equal "owner of the data" "$(stat -c '%a' "$root/var/lib/troupe") $(inside stat -c '%U:%G' /var/lib/troupe)" "750 troupe:troupe"
equal "owner of the files" "$(find "$root/usr/share/troupe" "$root/etc/troupe" "$root/lib/systemd/system/troupe.service" ! -user root | wc -l)" 0
equal "files that others may write" "$(find "$root/usr/share/troupe" "$root/etc/troupe" ! -type l -perm /022 | wc -l)" 0
equal "changed files" "$(inside dpkg --verify troupe)" ""
equal "files of the configuration" "$(inside dpkg-query -W -f '${Conffiles}\n' troupe | awk 'NF {print $1}' | sort | tr '\n' ' ')" "/etc/default/troupe /etc/troupe/node.conf "
check "unit" test -f "$root/lib/systemd/system/troupe.service"
equal "enabled units" "$(find "$root/etc/systemd" -name 'troupe*' | wc -l)" 0
refuted "nothing runs" inside pgrep -u troupe
equal "version" "$(inside /usr/bin/troupe --version | head -1 | cut -d' ' -f1-2)" "Troupe $EXPECTED_VERSION"

start
check "put with etcdctl" env ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:2379 put kept "by the upgrade"
equal "get with troupectl" "$(inside env HOME=/root TROUPE_ARCHIVE=off /usr/bin/troupectl --endpoints=127.0.0.1:2379 get kept --print-value-only)" "by the upgrade"
equal "user of the member" "$(inside pgrep -u troupe -c java)" 1
stop

sed -i 's/name = "default"/name = "edited"/' "$root/etc/troupe/node.conf"
install_package /tmp/later.deb
equal "version after the upgrade" "$(inside dpkg-query -W -f '${Version}' troupe)" 99.0
check "edited configuration is kept" grep -q edited "$root/etc/troupe/node.conf"
check "unedited configuration is new" grep -q "version 99" "$root/etc/default/troupe"
start
equal "data after the upgrade" "$(env ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:2379 get kept --print-value-only)" "by the upgrade"
stop

inside dpkg -r troupe >/dev/null
refuted "program after the removal" test -e "$root/usr/share/troupe"
check "data after the removal" test -d "$root/var/lib/troupe/data"
check "configuration after the removal" test -f "$root/etc/troupe/node.conf"

inside dpkg -P troupe >/dev/null
for path in /var/lib/troupe /var/cache/troupe /etc/troupe /etc/default/troupe /usr/bin/troupe /usr/share/doc/troupe /lib/systemd/system/troupe.service; do
  refuted "$path after the purge" test -e "$root$path"
done
refuted "user after the purge" inside getent passwd troupe
refuted "group after the purge" inside getent group troupe
refuted "package after the purge" inside dpkg -s troupe

# Once more, with a certificate of the operator, which the purge leaves.
install_package /tmp/first.deb
echo pem > "$root/etc/troupe/server.pem"
inside dpkg -P troupe >/dev/null
check "file of the operator after the purge" test -f "$root/etc/troupe/server.pem"
echo "all checks passed"
