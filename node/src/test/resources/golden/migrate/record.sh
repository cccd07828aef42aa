#!/usr/bin/env bash
# Records the data directory of an etcd whose database lacks its newest entries, and what the same etcd reports when it
# starts on a copy of that directory. etcd writes some requests to the database at once. So the database is that of an
# earlier moment, and the log contains all entries.
#
#   record.sh ETCD ETCDCTL NAME      writes NAME.zip and NAME.expected beside this script
set -euo pipefail
etcd="$1" ctl="$2" name="$3"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'kill -9 $pid 2>/dev/null || true; rm -rf "$work"' EXIT
client=http://127.0.0.1:23790 peer=http://127.0.0.1:23800
export ETCDCTL_ENDPOINTS=$client

start() { # directory, flags
  local dir="$1"; shift
  "$etcd" --name one --data-dir "$dir" --listen-client-urls $client --advertise-client-urls $client \
    --listen-peer-urls $peer --initial-advertise-peer-urls $peer --initial-cluster one=$peer "$@" >>"$work/log" 2>&1 &
  pid=$!
  until "$ctl" $USERFLAG endpoint health >/dev/null 2>&1; do kill -0 $pid; sleep 0.2; done
}
c() { "$ctl" $USERFLAG "$@"; }
try() { "$ctl" $USERFLAG "$@" >/dev/null 2>&1 || true; }
USERFLAG=""

# Entries that reach the database.
start "$work/data"
for i in 1 2 3 4 5; do c put key$i value$i; done
c del key2
c put key1 again
c lease grant 3600 >"$work/lease"
first="$(awk '{print $2}' "$work/lease")"
c put leased1 a --lease "$first"
c role add reader
c role grant-permission reader read key kez
c user add guest:one
c user grant-role guest reader
kill -TERM $pid; wait $pid || true
cp "$work/data/member/snap/db" "$work/db"

# Entries that only the log contains.
start "$work/data"
for i in 6 7 8 9; do c put key$i "$(head -c $((i * 400)) /dev/zero | tr '\0' x)"; done
c put key3 three --prev-kv
c put key3 --ignore-value --lease "$first"
c put key4 four --lease "$first"
c del key5 key7
c lease grant 7200 >"$work/lease"
second="$(awk '{print $2}' "$work/lease")"
c put leased2 b --lease "$second"
c lease grant 1800 >"$work/lease"
third="$(awk '{print $2}' "$work/lease")"
c put leased3 c --lease "$third"
c put leased4 d --lease "$third"
c lease revoke "$third"
c lease grant 1 >/dev/null
c lease grant 0 >/dev/null 2>&1 || true
c txn <<'TXN' >/dev/null
version("key1") = "2"

put key1 third
put txn1 x
get key3
del key8

put never y

TXN
c txn <<'TXN' >/dev/null
mod("key1") = "1"

put never y

put txn2 z
put txn3 z

TXN
c compaction 9
for i in $(seq 1 40); do c put many$((i % 7)) $i; done
c role add writer
c role grant-permission writer readwrite w --prefix
c role grant-permission reader read other
c role revoke-permission reader other
c user add clerk:two
c user grant-role clerk writer
c user grant-role clerk reader
c user revoke-role clerk reader
echo three | c user passwd guest --interactive=false
c role add spare
c role delete spare
c user add leaver:four
c user delete leaver
c user add root:top
c user grant-role root root
c user add certificate --no-password
c member add three --learner --peer-urls http://127.0.0.1:23802
gone="$(c member list | awk -F', ' '/23802/ {print $1}')"
c member update "$gone" --peer-urls http://127.0.0.1:23803
c member remove "$gone"
c member add two --learner --peer-urls http://127.0.0.1:23801
c auth enable
USERFLAG="--user clerk:two"
c put w1 byclerk
c lease grant 5400 >"$work/lease"
fourth="$(awk '{print $2}' "$work/lease")"
c put w2 byclerk --lease "$fourth"
try put key1 forbidden
USERFLAG="--user guest:three"
try put key9 forbidden
USERFLAG="--user root:top"
c put rooted 1
c role grant-permission writer read key9
sleep 3 # the lease of one second expires
c put last 1
kill -9 $pid; wait $pid 2>/dev/null || true
cp "$work/db" "$work/data/member/snap/db"

# The zeros that etcd preallocates need not be in the archive.
rm -f "$work"/data/member/wal/*.tmp
python3 - "$work/data" "$here/$name.zip" <<'PY'
import glob, os, sys, zipfile
root, out = sys.argv[1:]
for wal in glob.glob(root + '/member/wal/*.wal'):
    used = len(open(wal, 'rb').read().rstrip(b'\0'))
    os.truncate(wal, used + 4096)
with zipfile.ZipFile(out, 'w') as archive:
    for directory, _, files in sorted(os.walk(root)):
        for file in sorted(files):
            path = os.path.join(directory, file)
            entry = zipfile.ZipInfo(os.path.relpath(path, root))
            archive.writestr(entry, open(path, 'rb').read(), zipfile.ZIP_DEFLATED)
PY

cp -r "$work/data" "$work/copy"
start "$work/copy"
{
  echo "get $(c get '' --prefix -w json)"
  for r in 20 30 40; do echo "history $(c get '' --prefix --rev $r -w json)"; done
  echo "hash $(c endpoint hashkv -w json)"
  for r in 15 25 45; do echo "hash-$r $(c endpoint hashkv --rev $r -w json)"; done
  echo "leases $(c lease list -w json)"
  for l in $first $second $fourth; do echo "lease $(c lease timetolive $l --keys -w json)"; done
  echo "users $(c user list -w json)"
  for u in guest clerk root certificate; do echo "user $(c user get $u -w json)"; done
  echo "roles $(c role list -w json)"
  for r in reader writer; do echo "role $(c role get $r -w json)"; done
  echo "auth $(c auth status -w json)"
  echo "members $(c member list -w json)"
  echo "alarms $(c alarm list -w json)"
} >"$here/$name.expected"
kill -TERM $pid; wait $pid || true
