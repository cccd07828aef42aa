package io.troupe.etcd;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.etcd.DatabaseImport.Revisions;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltSizes;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.etcd.bolt.BoltWriter;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.Fixture;
import io.troupe.mvcc.HashResult;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A state that was exported and imported is the same (SN2, SN3). */
class DatabaseImportTest {
  private static final NodeId MEMBER = new NodeId(77);
  private static final DatabaseImport.Cluster CLUSTER =
      new DatabaseImport.Cluster(
          EtcdMembers.ofVoters(new TreeMap<>(Map.of(MEMBER, List.of("http://b:1", "http://a:1")))),
          1,
          1);

  private final Path dir;

  DatabaseImportTest(@TempDir Path temp) {
    dir = temp;
  }

  private Path export(Fixture fixture) throws IOException {
    Path file = dir.resolve("db");
    try (DatabaseExport export = DatabaseExport.of(fixture.store, 1 << 20);
        OutputStream out = Files.newOutputStream(file)) {
      while (!export.measure(1000)) {
        assertThat(export.position().revision()).isEqualTo(fixture.machine.currentRevision());
      }
      for (Bytes part = export.read(1 << 20); !part.isEmpty(); part = export.read(1 << 20)) {
        out.write(part.toArray());
      }
    }
    return file;
  }

  private Fixture imported(Path file, Revisions revisions) throws IOException {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    try (BoltReader reader = BoltReader.open(file)) {
      DatabaseImport.read(reader, store, CLUSTER, revisions, records -> {});
    }
    return new Fixture(store);
  }

  private static List<List<Bytes>> rows(Path file, String bucket) throws IOException {
    List<List<Bytes>> rows = new ArrayList<>();
    try (BoltReader reader = BoltReader.open(file)) {
      BoltWalk walk = reader.walk(bucket);
      while (walk.next()) {
        rows.add(List.of(walk.key(), walk.value()));
      }
    }
    return rows;
  }

  private static Operation change(SplittableRandom random) {
    String key = "k" + random.nextInt(12);
    return switch (random.nextInt(8)) {
      case 0 -> delete(one(key));
      case 1 -> delete(span(key, "k5"));
      case 2 -> put(key, "");
      case 3 -> put(key, "v", 5);
      default -> put(key, "v".repeat(random.nextInt(1, 100)));
    };
  }

  private static Result all(Fixture fixture) {
    return fixture.machine.reader().range(RangeQuery.of(KeyRange.all(), 0));
  }

  @Test
  void importedStateIsTheExportedOne_SN2() throws IOException {
    for (long seed = 1; seed <= 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Fixture original = new Fixture();
      original.apply(new Operation.LeaseGrant(5, 60));
      for (int i = random.nextInt(1, 150); i > 0; i--) {
        original.apply(change(random));
      }
      long revision = original.machine.currentRevision();
      if (random.nextBoolean() && revision > 2) {
        original.apply(new Operation.Compact(random.nextLong(2, revision + 1)));
      }
      Path file = export(original);
      List<List<Bytes>> records = rows(file, "key");

      Fixture copy = imported(file, Revisions.UNCHANGED);

      String name = "seed " + seed;
      assertThat(copy.machine.currentRevision()).as(name).isEqualTo(revision);
      assertThat(all(copy)).as(name).isEqualTo(all(original));
      long compacted = original.machine.reader().view().compactedRevision();
      assertThat(copy.machine.reader().view().compactedRevision()).as(name).isEqualTo(compacted);
      assertThat(copy.machine.reader().attachedKeys(5))
          .as(name)
          .isEqualTo(original.machine.reader().attachedKeys(5));
      long from = Math.max(1, compacted);
      HistoryResult history =
          original.machine.reader().history(KeyRange.all(), from, 1000, 1 << 20, true);
      assertThat(copy.machine.reader().history(KeyRange.all(), from, 1000, 1 << 20, true))
          .as(name)
          .isEqualTo(history);
      assertThat(copy.machine.reader().hashNow(0))
          .as(name)
          .isEqualTo(original.machine.reader().hashNow(0));
      assertThat(rows(export(copy), "key")).as(name).isEqualTo(records);
      // The state accepts entries after the first one.
      assertThat(copy.apply(put("more", "1")).revision()).as(name).isEqualTo(revision + 1);
    }
  }

  /** The file's hash is that of the member, at each revision, whatever was compacted. */
  @Test
  void hashOfFileIsThatOfMember_MT7() throws IOException {
    int compared = 0;
    for (long seed = 1; seed <= 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Fixture original = new Fixture();
      original.apply(new Operation.LeaseGrant(5, 60));
      for (int i = random.nextInt(1, 60); i > 0; i--) {
        original.apply(change(random));
      }
      if (random.nextInt(4) == 0) {
        original.apply(delete(span("k", "l")));
      }
      long newest = original.machine.currentRevision();
      if (random.nextBoolean() && newest > 2) {
        original.apply(new Operation.Compact(random.nextLong(2, newest + 1)));
      }
      long compacted = original.machine.reader().view().compactedRevision();
      try (BoltReader reader = BoltReader.open(export(original))) {
        for (long revision = Math.max(1, compacted); revision <= newest; revision++) {
          HashResult.Hash member = (HashResult.Hash) original.machine.reader().hashNow(revision);
          assertThat(HistoryHash.of(reader, revision))
              .as("seed %s revision %s compacted %s", seed, revision, compacted)
              .isEqualTo(new HistoryHash(member.hash(), revision, compacted));
          compared++;
        }
        assertThat(HistoryHash.of(reader, 0)).isEqualTo(HistoryHash.of(reader, newest));
        assertThatThrownBy(() -> HistoryHash.of(reader, newest + 1))
            .isInstanceOf(HistoryHash.RevisionException.class)
            .hasMessage("mvcc: required revision is a future revision");
        if (compacted > 1) {
          assertThatThrownBy(() -> HistoryHash.of(reader, compacted - 1))
              .isInstanceOf(HistoryHash.RevisionException.class)
              .hasMessage("mvcc: required revision has been compacted");
        }
      }
    }
    assertThat(compared).isGreaterThan(500);
  }

  @Test
  void otherRowsAreKept() throws IOException {
    Fixture original = new Fixture();
    StoreBatch rows = new StoreBatch();
    for (long i = 1; i <= 2_500; i++) {
      long id = i % 2 == 0 ? i : -i;
      rows.put(Space.LEASE, MetaRows.grant(id), MetaRows.value(new Lease(id, 60, i % 50)));
    }
    AlarmMember alarm = new AlarmMember(new NodeId(-9), AlarmType.CORRUPT);
    rows.put(Space.META, MetaRows.alarm(alarm), Bytes.EMPTY);
    rows.put(Space.META, AuthRows.AUTH, AuthRows.value(new AuthRows.Switch(true, 9)));
    AuthUser user = new AuthUser("root", "hash", true, List.of("a", "root"));
    rows.put(Space.META, AuthRows.user("root"), AuthRows.value(user));
    original.store.write(rows);

    Fixture copy = imported(export(original), Revisions.UNCHANGED);

    assertThat(copy.machine.reader().leases()).isEqualTo(MetaRows.leases(original.store, 0, 9999));
    assertThat(copy.machine.view().alarms()).containsExactly(alarm);
    assertThat(AuthRows.auth(copy.store)).isEqualTo(new AuthRows.Switch(true, 9));
    List<AuthUser> users = new ArrayList<>();
    AuthRows.forEachUser(copy.store, users::add);
    assertThat(users).containsExactly(user);
    assertThat(copy.machine.view().membership().voters()).containsExactly(MEMBER);
    assertThat(copy.machine.view().peerUrls().get(MEMBER))
        .containsExactly("http://a:1", "http://b:1");
    assertThat(copy.machine.appliedIndex()).isEqualTo(1);
  }

  @Test
  void raisedRevisionIsCompacted_SN3() throws IOException {
    Fixture original = new Fixture();
    original.apply(put("a", "1"));
    original.apply(put("a", "2"));

    Fixture copy = imported(export(original), new Revisions(1000, true));

    assertThat(copy.machine.currentRevision()).isEqualTo(1003);
    assertThat(copy.machine.reader().history(KeyRange.all(), 3, 10, 1000, false))
        .isEqualTo(new HistoryResult.Compacted(1003));
    assertThat(copy.apply(put("b", "1")).revision()).isEqualTo(1004);
    assertThat(copy.machine.reader().get(Bytes.utf8("a"))).isNotNull();
    // The raised revision survives another export.
    Path file = export(copy);
    assertThat(imported(file, Revisions.UNCHANGED).machine.currentRevision()).isEqualTo(1004);
  }

  @Test
  void otherDatabaseIsRejected() throws IOException {
    BoltWriter writer = new BoltWriter(List.of(new BoltSizes()));
    writer.beginBucket();
    writer.endBucket("other");
    Path file = dir.resolve("other");
    try (OutputStream out = Files.newOutputStream(file)) {
      boolean complete = false;
      while (!complete || writer.unreadBytes() > 0) {
        complete = writer.finish();
        out.write(writer.read(1 << 20).toArray());
      }
    }
    assertThatThrownBy(() -> imported(file, Revisions.UNCHANGED))
        .isInstanceOf(DamagedDatabaseException.class)
        .hasMessage("not a database of etcd: the bucket key or meta is missing");
  }
}
