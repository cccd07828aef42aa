"""The common scenario (../README.md) by the package etcd3."""

import os
import sys
import threading

import etcd3
from etcd3 import etcdrpc
from etcd3.etcdrpc import rpc_pb2

HOST, PORT = os.environ["ENDPOINT"].rsplit(":", 1)
CA = os.environ.get("CACERT") or None
P = "python/"


def connect():
    return etcd3.client(host=HOST, port=int(PORT), ca_cert=CA, timeout=10)


def ok(name):
    print("ok " + name, flush=True)


def same(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r}")


def put_get(client):
    first = client.put(P + "a", "1").header.revision
    second = client.put(P + "a", b"\x00\xff\n").header.revision
    same(second, first + 1)
    value, meta = client.get(P + "a")
    same((value, meta.version, meta.mod_revision), (b"\x00\xff\n", 2, second))
    same(client.get(P + "missing"), (None, None))
    ok("put and get")


def ranges(client):
    for i in range(10):
        client.put(f"{P}range/{i}", str(i))
    found = client.get_prefix(P + "range/", sort_order="descend", sort_target="key")
    same([value for value, _ in found], [str(i).encode() for i in range(9, -1, -1)])
    same(len(list(client.get_range(P + "range/2", P + "range/5"))), 3)
    ok("ranges")


def transactions(client):
    for expected in (True, False):
        done, _ = client.transaction(
            compare=[client.transactions.version(P + "txn") == 0],
            success=[client.transactions.put(P + "txn", "1")],
            failure=[client.transactions.get(P + "txn")],
        )
        same(done, expected)
    ok("transactions")


def deletes(client):
    same(client.delete_prefix(P + "range/").deleted, 10)
    same(client.delete(P + "missing"), False)
    ok("deletes")


def leases(client):
    lease = client.lease(60)
    client.put(P + "lease", "1", lease)
    same(lease.refresh()[0].TTL, 60)
    same(lease.keys, [(P + "lease").encode()])
    lease.revoke()
    same(client.get(P + "lease"), (None, None))
    ok("leases")


def watches(client):
    start = client.put(P + "watch/1", "1").header.revision
    client.put(P + "watch/1", "2")
    events, cancel = client.watch_prefix(P + "watch/", start_revision=start)
    client.delete(P + "watch/1")
    limit = threading.Timer(20, cancel)
    limit.start()
    seen = []
    for event in events:
        seen.append((type(event).__name__, event.value))
        if len(seen) == 3:
            break
    limit.cancel()
    cancel()
    same(seen, [("PutEvent", b"1"), ("PutEvent", b"2"), ("DeleteEvent", b"")])
    ok("watches")


def compaction(client):
    old = client.put(P + "a", "old").header.revision
    now = client.put(P + "a", "new").header.revision
    client.compact(now)
    try:
        request = rpc_pb2.RangeRequest(key=(P + "a").encode(), revision=old)
        client.kvstub.Range(request, 10, metadata=client.metadata)
    except Exception as refused:
        same(refused.details(), "etcdserver: mvcc: required revision has been compacted")
    else:
        raise AssertionError("a compacted revision was read")
    ok("compaction")


def members(client):
    same(len(list(client.members)), 1)
    status = client.status()
    same(status.leader.id, list(client.members)[0].id)
    if not status.version.startswith("3.7."):
        raise AssertionError(status.version)
    ok("members and status")


def locks(client):
    first = client.lock(P + "lock", ttl=30)
    second = connect().lock(P + "lock", ttl=30)
    same(first.acquire(timeout=10), True)
    same(second.acquire(timeout=0), False)
    first.release()
    same(second.acquire(timeout=10), True)
    second.release()
    ok("locks")


def logins(client):
    """By the stubs: without TLS, grpcio does not send what the package keeps as call credentials."""
    auth, kv, rpc = etcdrpc.AuthStub(client.channel), client.kvstub, rpc_pb2

    def token(user, password):
        said = auth.Authenticate(rpc.AuthenticateRequest(name=user, password=password), 10)
        return (("token", said.token),)

    auth.UserAdd(rpc.AuthUserAddRequest(name="root", password="r"), 10)
    auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="root", role="root"), 10)
    auth.RoleAdd(rpc.AuthRoleAddRequest(name="part"), 10)
    grant = rpc.AuthRoleGrantPermissionRequest(name="part")
    grant.perm.permType = 2
    grant.perm.key = (P + "part/").encode()
    grant.perm.range_end = (P + "part0").encode()
    auth.RoleGrantPermission(grant, 10)
    auth.UserAdd(rpc.AuthUserAddRequest(name="some", password="s"), 10)
    auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="some", role="part"), 10)
    auth.AuthEnable(rpc.AuthEnableRequest(), 10)
    root = token("root", "r")
    try:
        some = token("some", "s")
        key = (P + "part/1").encode()
        kv.Put(rpc.PutRequest(key=key, value=b"1"), 10, metadata=some)
        same(kv.Range(rpc.RangeRequest(key=key), 10, metadata=some).kvs[0].value, b"1")
        try:
            kv.Range(rpc.RangeRequest(key=b"other"), 10, metadata=some)
        except Exception as refused:
            same(refused.details(), "etcdserver: permission denied")
        else:
            raise AssertionError("a key without a grant was read")
    finally:
        auth.AuthDisable(rpc.AuthDisableRequest(), 10, metadata=root)
    for user in ("some", "root"):
        auth.UserDelete(rpc.AuthUserDeleteRequest(name=user), 10)
    auth.RoleDelete(rpc.AuthRoleDeleteRequest(role="part"), 10)
    ok("logins")


def main():
    client = connect()
    for step in (put_get, ranges, transactions, deletes, leases, watches, compaction, members, locks, logins):
        step(client)


if __name__ == "__main__":
    main()
    sys.exit(0)
