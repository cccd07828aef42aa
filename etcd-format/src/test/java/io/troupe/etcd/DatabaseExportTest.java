package io.troupe.etcd;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.Fixture;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of an exported file, as etcd stores them (8.6, MT7, MT8). */
class DatabaseExportTest {
  private static final HexFormat HEX = HexFormat.of();

  private final Path dir;

  private final Fixture fixture = new Fixture();

  DatabaseExportTest(@TempDir Path temp) {
    dir = temp;
  }

  private BoltReader exported(int most) throws IOException {
    Path file = dir.resolve("db");
    try (DatabaseExport export = DatabaseExport.of(fixture.store, 1 << 20);
        OutputStream out = Files.newOutputStream(file)) {
      while (!export.measure(3)) {
        assertThat(export.position().revision()).isEqualTo(fixture.machine.currentRevision());
      }
      for (Bytes part = export.read(most); !part.isEmpty(); part = export.read(most)) {
        out.write(part.toArray());
      }
      assertThat(Files.size(file)).isEqualTo(export.fileBytes());
    }
    return BoltReader.open(file);
  }

  /** Key and value of each row; values that are not text in hex. */
  private static List<String> rows(BoltReader reader, String bucket) {
    List<String> rows = new ArrayList<>();
    BoltWalk walk = reader.walk(bucket);
    while (walk.next()) {
      rows.add(text(walk.key()) + " = " + text(walk.value()));
    }
    return rows;
  }

  private static String text(Bytes bytes) {
    String text = bytes.utf8();
    boolean printable = text.chars().allMatch(c -> c >= ' ' && c < 127);
    return printable ? text : HEX.formatHex(bytes.toArray());
  }

  @Test
  void recordsAreThoseOfEtcd_MT7() throws IOException {
    fixture.apply(new Operation.LeaseGrant(5, 60));
    fixture.apply(put("a", "1", 5));
    fixture.apply(put("b", "2"));
    fixture.apply(delete(one("a")));
    try (BoltReader reader = exported(1000)) {
      assertThat(rows(reader, "key"))
          .containsExactly(
              "00000000000000025f0000000000000000 = 0a016110021802200" + "12a01313005",
              "00000000000000035f0000000000000000 = 0a01621003180320012a0132",
              "00000000000000045f000000000000000074 = 0a0161");
      assertThat(rows(reader, "lease")).containsExactly("0000000000000005 = 0805103c");
    }
  }

  @Test
  void compactedVersionsAreLeftOut() throws IOException {
    fixture.apply(put("a", "1"));
    fixture.apply(put("a", "2"));
    fixture.apply(put("b", "3"));
    fixture.apply(delete(one("b")));
    fixture.apply(put("c", "4"));
    fixture.apply(new Operation.Compact(5));
    try (BoltReader reader = exported(1 << 20)) {
      assertThat(rows(reader, "key"))
          .extracting(row -> row.substring(0, 17))
          .containsExactly("00000000000000035", "00000000000000055", "00000000000000065");
      assertThat(rows(reader, "meta"))
          .contains(
              "finishedCompactRev = 00000000000000055f0000000000000000",
              "scheduledCompactRev = 00000000000000055f0000000000000000");
    }
  }

  @Test
  void otherBucketsAreThoseOfEtcd() throws IOException {
    NodeId first = new NodeId(0x8e9e05c52164694dL);
    NodeId learner = new NodeId(2);
    NodeId gone = new NodeId(3);
    Membership membership =
        new Membership(7, Set.of(first), Set.of(learner), Set.of(), Set.of(), Set.of(gone));
    StoreBatch rows = new StoreBatch();
    rows.put(Space.META, MetaRows.MEMBERSHIP, MembershipCodec.encode(membership));
    rows.put(Space.META, MetaRows.peerUrls(first), MetaRows.value(List.of("http://a:1")));
    rows.put(Space.META, MetaRows.peerUrls(learner), MetaRows.value(List.of("http://b:1")));
    MemberAttributes named = new MemberAttributes(first, "n\"1", List.of("http://a:2"));
    rows.put(Space.META, MetaRows.member(first), MetaRows.value(named));
    rows.put(Space.META, MetaRows.alarm(new AlarmMember(first, AlarmType.NOSPACE)), Bytes.EMPTY);
    rows.put(Space.META, AuthRows.AUTH, AuthRows.value(new AuthRows.Switch(true, 9)));
    AuthUser user = new AuthUser("root", "hash", false, List.of("root"));
    rows.put(Space.META, AuthRows.user("root"), AuthRows.value(user));
    Permission read =
        new Permission(Permission.Type.READWRITE, new KeyRange(Bytes.utf8("a"), Bytes.utf8("b")));
    rows.put(Space.META, AuthRows.role("r"), AuthRows.value(new AuthRole("r", List.of(read))));
    rows.put(Space.META, MetaRows.CLUSTER_VERSION, Bytes.utf8("3.7.0"));
    rows.put(Space.META, MetaRows.STORAGE_VERSION, Bytes.utf8("3.7.0"));
    fixture.store.write(rows);
    try (BoltReader reader = exported(1 << 20)) {
      assertThat(rows(reader, "meta"))
          .containsExactly(
              "confState = {\"voters\":[10276657743932975437],\"learners\":[2],"
                  + "\"auto_leave\":false}",
              "consistent_index = 0000000000000000",
              "storageVersion = 3.7.0",
              "term = 0000000000000000");
      assertThat(rows(reader, "cluster"))
          .containsExactly(
              "clusterVersion = 3.7.0", "downgrade = {\"target-version\":\"\",\"enabled\":false}");
      assertThat(rows(reader, "members"))
          .containsExactly(
              "2 = {\"id\":2,\"peerURLs\":[\"http://b:1\"],\"isLearner\":true}",
              "8e9e05c52164694d = {\"id\":10276657743932975437,\"peerURLs\":[\"http://a:1\"],"
                  + "\"name\":\"n\\\"1\",\"clientURLs\":[\"http://a:2\"]}");
      assertThat(rows(reader, "members_removed")).containsExactly("3 = removed");
      assertThat(rows(reader, "alarm")).containsExactly("08cdd2918bd2b881cf8e011001 = ");
      assertThat(rows(reader, "auth"))
          .containsExactly("authEnabled = 01", "authRevision = 0000000000000009");
      assertThat(rows(reader, "authUsers"))
          .containsExactly("root = 0a04726f6f74120468617368" + "1a04726f6f742200");
      assertThat(rows(reader, "authRoles")).containsExactly("r = 0a0172120808021201611a0162");
    }
  }

  /** More leases than are read at once, with ids that are negative as signed numbers. */
  @Test
  void allLeasesAreInOrder() throws IOException {
    StoreBatch rows = new StoreBatch();
    for (long i = 1; i <= 2_500; i++) {
      long id = i % 2 == 0 ? i : -i;
      rows.put(Space.LEASE, MetaRows.grant(id), MetaRows.value(new Lease(id, 60, 0)));
    }
    fixture.store.write(rows);
    try (BoltReader reader = exported(4096)) {
      assertThat(rows(reader, "lease")).hasSize(2_500);
    }
  }

  /** The file is that of the moment at which it was opened. */
  @Test
  void laterChangesAreNotInTheFile() throws IOException {
    fixture.apply(put("a", "1"));
    try (DatabaseExport export = DatabaseExport.of(fixture.store, 1 << 20)) {
      fixture.apply(put("b", "2"));
      fixture.apply(new Operation.LeaseGrant(5, 60));
      while (!export.measure(1)) {
        assertThat(export.position().revision()).isEqualTo(2);
      }
      Path file = dir.resolve("frozen");
      Files.write(file, export.read(1 << 20).toArray());
      try (BoltReader reader = BoltReader.open(file)) {
        assertThat(rows(reader, "key")).hasSize(1);
        assertThat(rows(reader, "lease")).isEmpty();
      }
    }
  }
}
