#!/bin/bash
# The unit of the Debian package under systemd itself: readiness, restrictions, watchdog, exit codes, upgrade and removal. Boots a systemd
# on an overlay over /, in namespaces of its own.
#
#   systemd.sh PACKAGE WORK
set -euo pipefail

case "${3:-outside}" in
  outside)
    package="$(readlink -f "$1")" work="$(readlink -f "$2")"
    mkdir -p "$work/results" "$work/system"
    cp "$package" "$work/results/first.deb"
    cp "${0%/*}/checks.sh" "$0" "$work/results/"
    unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash "$0" "$package" "$work" boot >"$work/results/boot.log" 2>&1 &
    machine=$!
    for _ in $(seq 3000); do
      [ ! -f "$work/results/status" ] && kill -0 "$machine" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$machine" 2>/dev/null || true
    wait "$machine" 2>/dev/null || true
    cat "$work/results/checks.log" 2>/dev/null || cat "$work/results/boot.log"
    [ -f "$work/results/status" ] || { echo "FAILED: no result" >&2; exit 1; }
    exit "$(cat "$work/results/status")"
    ;;

  boot)
    . "${0%/*}/checks.sh"
    work="$2" root="$2/system/root"
    ip link set lo up
    overlay "$work/system"
    # systemd mounts /dev, /sys and the hierarchies of cgroups by itself.
    mkdir -p "$root/results"
    mount --bind "$work/results" "$root/results"
    # Nothing of this system starts: the checks are all that systemd runs.
    printf '%s\n' "[Unit]" "DefaultDependencies=no" "[Service]" "Type=oneshot" "ExecStart=/bin/bash /results/systemd.sh - - checks" \
      "StandardOutput=file:/results/checks.log" "StandardError=inherit" >"$root/etc/systemd/system/checks.service"
    mkdir -p "$root/etc/systemd/system/troupe.service.d"
    printf '%s\n' "[Unit]" "DefaultDependencies=no" "[Service]" "WatchdogSec=6" "Environment=TROUPE_ARCHIVE=off JAVA_HOME=${JAVA_HOME:-}" \
      "StandardOutput=file:/results/member.log" "StandardError=inherit" >"$root/etc/systemd/system/troupe.service.d/test.conf"
    rm -f "$root/results/status"
    container=chroot exec chroot "$root" /bin/sh -c 'exec /lib/systemd/systemd --unit=checks.service --log-target=console'
    ;;

  checks)
    . /results/checks.sh
    trap 'echo $? >/results/status' EXIT
    ctl() { env HOME=/root TROUPE_ARCHIVE=off /usr/bin/troupectl "$@" 2>/dev/null; }
    show() { systemctl show --value -p "$1" troupe; }
    options=()
    dpkg-query -W -f '${Status}\n' 'openjdk-*-jre-headless' 2>/dev/null | grep -q "ok installed" || options=(--force-depends)
    install_package() { dpkg "${options[@]}" --force-confdef --force-confold -i "$1" >/results/dpkg.log 2>&1 || fail "dpkg -i $1"; }

    install_package /results/first.deb
    equal "state after the installation" "$(systemctl is-enabled troupe || true) $(systemctl is-active troupe || true)" "disabled inactive"
    systemctl enable --now troupe || systemctl status --no-pager troupe || true
    check "start" systemctl is-active troupe
    equal "status line" "$(show StatusText)" "serving clients"
    equal "put" "$(ctl put a b)" OK
    member="$(show MainPID)"
    equal "capabilities" "$(awk '/^CapEff/ {print $2}' "/proc/$member/status")" 0000000000000000
    equal "new privileges, system calls" "$(awk '/^(NoNewPrivs|Seccomp):/ {printf "%s ", $2}' "/proc/$member/status")" "1 2 "
    equal "open files" "$(show LimitNOFILE)" 65536
    equal "size of a core dump" "$(awk '/^Max core file size/ {print $5 " " $6}' "/proc/$member/limits")" "0 0"

    # The process makes no progress, and systemd kills it.
    kill -STOP "$member"
    becomes "restart by the watchdog" 1 show NRestarts
    becomes "active again" active systemctl is-active troupe
    equal "get after the watchdog" "$(ctl get a --print-value-only)" b

    later_version /results/first.deb /results/later.deb
    member="$(show MainPID)"
    install_package /results/later.deb
    becomes "active after the upgrade" active systemctl is-active troupe
    refuted "the upgrade restarts the member" test "$member" = "$(show MainPID)"
    equal "get after the upgrade" "$(ctl get a --print-value-only)" b

    check "stop" systemctl stop troupe
    equal "result of a stop" "$(show Result) $(show ExecMainStatus)" "success 143"
    sed -i 's/  name = .*/  nmae = "x"/' /etc/troupe/node.conf
    refuted "start with a wrong setting" systemctl start troupe
    equal "no restart after exit code 2" "$(show ActiveState) $(show ExecMainStatus) $(show NRestarts)" "failed 2 0"

    sed -i 's/  nmae = .*/  name = "default"/' /etc/troupe/node.conf
    check "start again" systemctl start troupe
    check "removal" dpkg -r troupe
    refuted "running after the removal" pgrep -u troupe java
    equal "links after the removal" "$(find /etc/systemd/system -name troupe.service | wc -l)" 0
    check "data after the removal" test -d /var/lib/troupe/data
    check "purge" dpkg -P troupe
    refuted "data after the purge" test -e /var/lib/troupe
    echo "all checks passed"
    ;;
esac
