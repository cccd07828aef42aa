// The common scenario (../README.md) by the package etcd3.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { Etcd3, Range } = require('etcd3');

const P = 'node/';
const ca = process.env.CACERT;

function connect(auth) {
  return new Etcd3({
    hosts: (ca ? 'https://' : 'http://') + process.env.ENDPOINT,
    ...(ca ? { credentials: { rootCertificate: fs.readFileSync(ca) } } : {}),
    ...(auth ? { auth } : {}),
    // The scenario wants to see refusals, not to wait for a circuit to close again.
    faultHandling: {},
  });
}

function ok(name) {
  console.log('ok ' + name);
}

async function refused(call, text) {
  await assert.rejects(call, (error) => error.message.includes(text) || assert.fail(error));
}

async function putAndGet(client) {
  const first = await client.put(P + 'a').value('1');
  const bytes = Buffer.from([0, 255, 10]);
  const second = await client.put(P + 'a').value(bytes);
  assert.equal(Number(second.header.revision), Number(first.header.revision) + 1);
  const found = await client.get(P + 'a').exec();
  assert.deepEqual(found.kvs[0].value, bytes);
  assert.equal(found.kvs[0].version, '2');
  assert.equal(await client.get(P + 'missing').string(), null);
  ok('put and get');
}

async function ranges(client) {
  for (let i = 0; i < 10; i++) {
    await client.put(`${P}range/${i}`).value(String(i));
  }
  const all = client.getAll().prefix(P + 'range/');
  assert.equal(await all.count(), 10);
  const last = await client.getAll().prefix(P + 'range/').sort('Key', 'Descend').limit(3).exec();
  assert.deepEqual(last.kvs.map((kv) => kv.value.toString()), ['9', '8', '7']);
  assert.equal(last.more, true);
  ok('ranges');
}

async function transactions(client) {
  for (const expected of [true, false]) {
    const done = await client
      .if(P + 'txn', 'Version', '==', 0)
      .then(client.put(P + 'txn').value('1'))
      .else(client.get(P + 'txn'))
      .commit();
    assert.equal(done.succeeded, expected);
  }
  ok('transactions');
}

async function deletes(client) {
  const done = await client.delete().prefix(P + 'range/');
  assert.equal(done.deleted, '10');
  assert.equal((await client.delete().key(P + 'missing')).deleted, '0');
  ok('deletes');
}

async function leases(client) {
  const lease = client.lease(60);
  await lease.put(P + 'lease').value('1');
  const id = await lease.grant();
  await lease.keepaliveOnce();
  const times = await client.leaseClient.leaseTimeToLive({ ID: id, keys: true });
  assert.deepEqual(times.keys.map(String), [P + 'lease']);
  await lease.revoke();
  assert.equal(await client.get(P + 'lease').string(), null);
  ok('leases');
}

async function watches(client) {
  const first = await client.put(P + 'watch/1').value('1');
  await client.put(P + 'watch/1').value('2');
  const watcher = await client
    .watch()
    .prefix(P + 'watch/')
    .startRevision(first.header.revision)
    .create();
  const seen = [];
  const all = new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error('saw only ' + seen)), 20000);
    const see = (text) => {
      seen.push(text);
      if (seen.length === 3) {
        clearTimeout(limit);
        resolve();
      }
    };
    watcher.on('put', (kv) => see('put ' + kv.value));
    watcher.on('delete', () => see('delete'));
    watcher.on('error', reject);
  });
  await client.delete().key(P + 'watch/1');
  await all;
  assert.deepEqual(seen, ['put 1', 'put 2', 'delete']);
  await watcher.cancel();
  ok('watches');
}

async function compaction(client) {
  const old = await client.put(P + 'a').value('old');
  const now = await client.put(P + 'a').value('new');
  await client.kv.compact({ revision: now.header.revision });
  await refused(
    client.get(P + 'a').revision(old.header.revision).exec(),
    'etcdserver: mvcc: required revision has been compacted');
  ok('compaction');
}

async function members(client) {
  const { members: all } = await client.cluster.memberList({});
  assert.equal(all.length, 1);
  const status = await client.maintenance.status();
  assert.equal(status.leader, all[0].ID);
  assert.match(status.version, /^3\.7\./);
  ok('members and status');
}

async function locks(client) {
  const other = connect();
  const first = await client.lock(P + 'lock').ttl(30).acquire();
  await assert.rejects(other.lock(P + 'lock').ttl(30).acquire());
  await first.release();
  const second = await other.lock(P + 'lock').ttl(30).acquire();
  await second.release();
  other.close();
  ok('locks');
}

async function logins(client) {
  const rootRole = client.role('root');
  await client.user('root').create('r');
  await client.user('root').addRole(rootRole);
  const part = await client.role('part').create();
  await part.grant({ permission: 'Readwrite', range: Range.prefix(P + 'part/') });
  await client.user('some').create('s');
  await client.user('some').addRole(part);
  await client.auth.authEnable();
  const root = connect({ username: 'root', password: 'r' });
  try {
    const some = connect({ username: 'some', password: 's' });
    await some.put(P + 'part/1').value('1');
    assert.equal(await some.get(P + 'part/1').string(), '1');
    await refused(some.get('other').string(), 'etcdserver: permission denied');
    some.close();
  } finally {
    await root.auth.authDisable();
    root.close();
  }
  await client.user('some').delete();
  await client.user('root').delete();
  await part.delete();
  ok('logins');
}

async function main() {
  const client = connect();
  for (const step of [
    putAndGet, ranges, transactions, deletes, leases, watches, compaction, members, locks, logins,
  ]) {
    await step(client);
  }
  client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
