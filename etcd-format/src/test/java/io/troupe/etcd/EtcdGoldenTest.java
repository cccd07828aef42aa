package io.troupe.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Permission;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.Fixture;
import io.troupe.mvcc.HashResult;
import io.troupe.mvcc.InMemoryOrderedStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that real etcd servers saved (docs/formats/etcd-database.md says how). */
class EtcdGoldenTest {
  private final Path dir;

  EtcdGoldenTest(@TempDir Path temp) {
    dir = temp;
  }

  private Fixture imported(String golden) throws IOException {
    Path file = dir.resolve("db");
    try (InputStream in =
        new GZIPInputStream(
            Objects.requireNonNull(getClass().getResourceAsStream("/golden/" + golden)))) {
      Files.copy(in, file);
    }
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    try (BoltReader reader = BoltReader.open(file)) {
      DatabaseImport.read(
          reader,
          store,
          new DatabaseImport.Cluster(
              EtcdMembers.ofVoters(new TreeMap<>(Map.of(new NodeId(1), List.of("http://a:1")))),
              1,
              1),
          DatabaseImport.Revisions.UNCHANGED,
          records -> {});
    }
    return new Fixture(store);
  }

  private static void assertContent(Fixture fixture, long lease, int hash) {
    RangeQuery all = RangeQuery.of(KeyRange.all(), 0);
    assertThat(((Result.Range) fixture.machine.reader().range(all)).range().kvs())
        .extracting(
            kv ->
                "%s %d %d %d %s %d"
                    .formatted(
                        kv.key().utf8(),
                        kv.createRevision(),
                        kv.modRevision(),
                        kv.version(),
                        kv.value().length() > 20 ? kv.value().length() : kv.value().utf8(),
                        kv.lease()))
        .containsExactly(
            "key1 2 9 2 again 0",
            "key3 4 4 1 value3 0",
            "key5 6 6 1 value5 0",
            "key6 7 7 1 value6 0",
            "large 11 11 1 9000 0",
            "leased 8 8 1 1 " + lease);
    assertThat(fixture.machine.currentRevision()).isEqualTo(12);
    assertThat(fixture.machine.reader().view().compactedRevision()).isEqualTo(6);
    assertThat(((HashResult.Hash) fixture.machine.reader().hashNow(0)).hash()).isEqualTo(hash);
    assertThat(fixture.machine.reader().leases()).containsExactly(new Lease(lease, 3600, 0));
    assertThat(fixture.machine.reader().attachedKeys(lease)).containsExactly(Bytes.utf8("leased"));
    List<AuthUser> users = new ArrayList<>();
    AuthRows.forEachUser(fixture.store, users::add);
    assertThat(users)
        .extracting(user -> user.name() + user.roles() + user.noPassword())
        .containsExactly("guest[reader]false", "root[]true");
    assertThat(users.get(0).passwordHash()).startsWith("$2a$10$");
    List<AuthRole> roles = new ArrayList<>();
    AuthRows.forEachRole(fixture.store, roles::add);
    Permission read =
        new Permission(Permission.Type.READ, new KeyRange(Bytes.utf8("key"), Bytes.utf8("kez")));
    assertThat(roles).containsExactly(new AuthRole("reader", List.of(read)));
    AuthRows.Switch auth = Objects.requireNonNull(AuthRows.auth(fixture.store));
    assertThat(auth.enabled()).isFalse();
    assertThat(auth.revision()).isGreaterThan(1);
  }

  /** The hash is the one that the server replied to HashKV. */
  @Test
  void snapshotOfEtcd37_SN2() throws IOException {
    assertContent(imported("etcd-3.7.1.db.gz"), 0x26b7a214e8ed5c0bL, 1477175842);
  }

  @Test
  void snapshotOfEtcd35_SN2() throws IOException {
    assertContent(imported("etcd-3.5.db.gz"), 0x26b7a214e8f39c0bL, 1205800108);
  }
}
