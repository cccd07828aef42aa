package io.troupe.node.offline;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.sun.jna.Native;
import io.troupe.machine.StateMachine;
import io.troupe.machine.StateView;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.HardState;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import io.troupe.mvcc.Crc32cJoin;
import io.troupe.mvcc.HashResult;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.protocol.MemberIds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Data directories of killed etcd members ({@code golden/migrate/record.sh}), and what these
 * members reported after a restart.
 */
class MigrateCommandTest {
  private static final String NEWEST = "etcd-3.7.1";

  private final Path dir;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  MigrateCommandTest(@TempDir Path temp) {
    dir = temp;
  }

  @BeforeEach
  void capture() {
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(err);
  }

  private String errors() {
    return errors.toString(StandardCharsets.UTF_8);
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(
        MigrateCommandTest.class.getResourceAsStream("/golden/migrate/" + name), name);
  }

  private Path etcd(String version) throws IOException {
    Path root = dir.resolve(version);
    try (ZipInputStream in = new ZipInputStream(resource(version + ".zip"))) {
      for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        Path file = root.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    return root;
  }

  /** What etcd reported: the JSON objects of each name, in order. */
  private static Map<String, List<JsonElement>> expected(String version) throws IOException {
    Map<String, List<JsonElement>> found = new HashMap<>();
    String text =
        new String(resource(version + ".expected").readAllBytes(), StandardCharsets.UTF_8);
    for (String line : text.lines().toList()) {
      String name = line.substring(0, line.indexOf(' '));
      found
          .computeIfAbsent(name, absent -> new ArrayList<>())
          .add(JsonParser.parseString(line.substring(name.length())));
    }
    return found;
  }

  private static JsonObject one(Map<String, List<JsonElement>> expected, String name) {
    return Objects.requireNonNull(expected.get(name), name).get(0).getAsJsonObject();
  }

  private int migrate(Path from, Path to, String... more) {
    List<String> args = new ArrayList<>(List.of("migrate", "--data-dir=" + from, "--output=" + to));
    args.addAll(List.of(more));
    return OfflineCommands.run(args.toArray(String[]::new));
  }

  private static void opened(Path data, Consumer<StateMachine> check) {
    try (DataDir files = DataDir.open(data);
        RocksStore store = RocksStore.open(files.state(), RocksSettings.DEFAULT);
        StateMachine machine = new StateMachine(store, 1 << 20)) {
      check.accept(machine);
    }
  }

  private static String record(String key, long... numbers) {
    return key + Arrays.toString(numbers);
  }

  private static long number(JsonObject object, String name) {
    JsonElement value = object.get(name);
    return value == null ? 0 : value.getAsLong();
  }

  private static String bytes(JsonObject object, String name) {
    JsonElement value = object.get(name);
    return value == null
        ? ""
        : new String(Base64.getDecoder().decode(value.getAsString()), StandardCharsets.UTF_8);
  }

  private static JsonArray array(JsonObject object, String name) {
    return object.get(name) instanceof JsonArray array ? array : new JsonArray();
  }

  private static List<String> texts(JsonArray array) {
    List<String> texts = new ArrayList<>();
    array.forEach(each -> texts.add(each.getAsString()));
    return texts;
  }

  private static List<String> records(JsonObject response) {
    List<String> records = new ArrayList<>();
    for (JsonElement each : array(response, "kvs")) {
      JsonObject kv = each.getAsJsonObject();
      records.add(
          record(
              bytes(kv, "key") + "=" + bytes(kv, "value"),
              number(kv, "create_revision"),
              number(kv, "mod_revision"),
              number(kv, "version"),
              number(kv, "lease")));
    }
    return records;
  }

  private static List<String> records(StateMachine machine, long revision) {
    Result read = machine.reader().range(RangeQuery.of(KeyRange.all(), revision));
    List<String> records = new ArrayList<>();
    for (KeyValue kv : ((Result.Range) read).range().kvs()) {
      records.add(
          record(
              kv.key().utf8() + "=" + kv.value().utf8(),
              kv.createRevision(),
              kv.modRevision(),
              kv.version(),
              kv.lease()));
    }
    return records;
  }

  private static void assertKeys(StateMachine machine, Map<String, List<JsonElement>> expected) {
    JsonObject all = one(expected, "get");
    assertThat(machine.currentRevision())
        .isEqualTo(number(all.getAsJsonObject("header"), "revision"));
    assertThat(records(machine, 0)).isEqualTo(records(all)).hasSizeGreaterThan(15);
    List<JsonElement> history = Objects.requireNonNull(expected.get("history"));
    assertThat(history).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(records(machine, 20 + 10L * i))
          .isEqualTo(records(history.get(i).getAsJsonObject()));
    }
    for (int revision : List.of(0, 15, 25, 45)) {
      String name = revision == 0 ? "hash" : "hash-" + revision;
      JsonObject hash =
          Objects.requireNonNull(expected.get(name))
              .get(0)
              .getAsJsonArray()
              .get(0)
              .getAsJsonObject()
              .getAsJsonObject("HashKV");
      HashResult.Hash found = (HashResult.Hash) machine.reader().hashNow(revision);
      assertThat(Integer.toUnsignedLong(found.hash())).as(name).isEqualTo(number(hash, "hash"));
      assertThat(machine.reader().view().compactedRevision())
          .isEqualTo(number(hash, "compact_revision"));
    }
  }

  private static void assertLeases(StateMachine machine, Map<String, List<JsonElement>> expected) {
    List<JsonElement> leases = Objects.requireNonNull(expected.get("lease"));
    assertThat(array(one(expected, "leases"), "leases")).hasSameSizeAs(leases);
    List<Lease> wanted = new ArrayList<>();
    for (JsonElement each : leases) {
      JsonObject lease = each.getAsJsonObject();
      long id = number(lease, "id");
      wanted.add(new Lease(id, number(lease, "granted-ttl"), 0));
      Set<String> keys = new TreeSet<>();
      array(lease, "keys")
          .forEach(
              key ->
                  keys.add(
                      new String(
                          Base64.getDecoder().decode(key.getAsString()), StandardCharsets.UTF_8)));
      assertThat(machine.reader().attachedKeys(id))
          .extracting(Bytes::utf8)
          .containsExactlyElementsOf(keys)
          .isNotEmpty();
    }
    assertThat(machine.reader().leases()).containsExactlyInAnyOrderElementsOf(wanted);
  }

  private static void assertUsers(StateMachine machine, Map<String, List<JsonElement>> expected) {
    StateView view = machine.view();
    JsonObject auth = one(expected, "auth");
    assertThat(view.auth().isEnabled()).isTrue().isEqualTo(auth.get("enabled").getAsBoolean());
    assertThat(view.auth().revision()).isEqualTo(number(auth, "authRevision"));
    List<String> names = texts(array(one(expected, "users"), "users"));
    assertThat(view.auth().users().keySet()).containsExactlyElementsOf(names);
    List<JsonElement> users = Objects.requireNonNull(expected.get("user"));
    List<String> shown = List.of("guest", "clerk", "root", "certificate");
    for (int i = 0; i < shown.size(); i++) {
      AuthUser user = Objects.requireNonNull(view.auth().user(shown.get(i)));
      assertThat(user.roles())
          .containsExactlyElementsOf(texts(array(users.get(i).getAsJsonObject(), "roles")));
      assertThat(user.noPassword()).isEqualTo(shown.get(i).equals("certificate"));
      assertThat(user.passwordHash()).startsWith(user.noPassword() ? "" : "$2a$");
    }
    List<JsonElement> roles = Objects.requireNonNull(expected.get("role"));
    assertThat(view.auth().roles().keySet())
        .containsExactlyElementsOf(texts(array(one(expected, "roles"), "roles")));
    List<String> named = List.of("reader", "writer");
    for (int i = 0; i < named.size(); i++) {
      AuthRole role = Objects.requireNonNull(view.auth().role(named.get(i)));
      List<String> permissions = new ArrayList<>();
      for (JsonElement each : array(roles.get(i).getAsJsonObject(), "perm")) {
        JsonObject permission = each.getAsJsonObject();
        permissions.add(
            number(permission, "permType")
                + bytes(permission, "key")
                + "-"
                + bytes(permission, "range_end"));
      }
      assertThat(role.permissions())
          .extracting(
              permission ->
                  permission.type().code()
                      + permission.range().key().utf8()
                      + "-"
                      + permission.range().rangeEnd().utf8())
          .containsExactlyElementsOf(permissions)
          .isNotEmpty();
    }
  }

  private static NodeId id(JsonObject object, String name) {
    return new NodeId(new BigInteger(object.get(name).getAsString()).longValue());
  }

  private static void assertMembers(StateMachine machine, Map<String, List<JsonElement>> expected) {
    StateView view = machine.view();
    int learners = 0;
    JsonArray members = array(one(expected, "members"), "members");
    for (JsonElement each : members) {
      JsonObject member = each.getAsJsonObject();
      NodeId id = id(member, "ID");
      boolean learner = member.has("isLearner");
      learners += learner ? 1 : 0;
      Collection<NodeId> group =
          learner ? view.membership().learners() : view.membership().voters();
      assertThat(group).contains(id);
      assertThat(view.peerUrls().get(id))
          .containsExactlyElementsOf(texts(array(member, "peerURLs")));
      MemberAttributes published = view.members().get(id);
      if (member.has("name")) {
        assertThat(published)
            .isEqualTo(
                new MemberAttributes(
                    id, member.get("name").getAsString(), texts(array(member, "clientURLs"))));
      } else {
        assertThat(published).isNull();
      }
    }
    assertThat(learners).isEqualTo(1);
    assertThat(view.membership().members()).hasSize(members.size());
    assertThat(view.membership().removed()).hasSize(1);
    assertThat(view.alarms()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"etcd-3.7.1", "etcd-3.5.30"})
  void migratedStateIsTheOneThatEtcdRecovers(String version) throws IOException {
    Path data = dir.resolve("data");
    assertThat(migrate(etcd(version), data)).as(errors()).isZero();
    assertThat(errors())
        .contains("8 records and 101 entries of the log, revision 67, compacted revision 9")
        .contains(" entries were not known to be committed");
    Map<String, List<JsonElement>> expected = expected(version);
    opened(
        data,
        machine -> {
          assertKeys(machine, expected);
          assertLeases(machine, expected);
          assertUsers(machine, expected);
          assertMembers(machine, expected);
        });
    JsonObject header = one(expected, "get").getAsJsonObject("header");
    try (DataDir files = DataDir.open(data)) {
      MemberIdentity identity = Objects.requireNonNull(files.identity());
      assertThat(identity.memberId()).isEqualTo(id(header, "member_id"));
      assertThat(new NodeId(identity.clusterId())).isEqualTo(id(header, "cluster_id"));
      assertThat(identity.name()).isEqualTo("one");
      assertThat(identity.members()).hasSize(2);
      HardState state = WalReplay.read(files.wal(), 0).hardState();
      // etcd began another term when it restarted.
      assertThat(state.term()).isEqualTo(number(header, "raft_term") - 1);
      assertThat(state.commit()).isGreaterThan(100);
    }
  }

  @Test
  void sourceIsUnchanged() throws IOException {
    Path etcd = etcd(NEWEST);
    Map<Path, Bytes> before = files(etcd);
    assertThat(migrate(etcd, dir.resolve("data"))).isZero();
    assertThat(files(etcd)).isEqualTo(before);
  }

  private static Map<Path, Bytes> files(Path root) throws IOException {
    Map<Path, Bytes> files = new HashMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(file, Bytes.wrap(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  @Test
  void newClusterReplacesTheMembers_SN2() throws IOException {
    Path data = dir.resolve("data");
    assertThat(
            migrate(
                etcd(NEWEST),
                data,
                "--name=b",
                "--initial-cluster=a=http://127.0.0.1:1,b=http://127.0.0.1:2",
                "--initial-advertise-peer-urls=http://127.0.0.1:2",
                "--initial-cluster-token=t"))
        .as(errors())
        .isZero();
    try (DataDir files = DataDir.open(data)) {
      MemberIdentity identity = Objects.requireNonNull(files.identity());
      assertThat(identity.name()).isEqualTo("b");
      assertThat(identity.memberId())
          .isEqualTo(MemberIds.initial(List.of("http://127.0.0.1:2"), "t"));
      assertThat(identity.clusterId()).isEqualTo(MemberIds.cluster(identity.members().keySet()));
    }
    opened(
        data,
        machine -> {
          assertThat(machine.view().membership().voters()).hasSize(2);
          assertThat(machine.view().membership().learners()).isEmpty();
          assertThat(machine.view().members()).isEmpty();
          assertThat(machine.currentRevision()).isEqualTo(67);
        });
  }

  @Test
  void memberIsChosenByName() throws IOException {
    Path etcd = etcd(NEWEST);
    assertThat(migrate(etcd, dir.resolve("a"), "--name=one")).isZero();
    assertThat(migrate(etcd, dir.resolve("b"), "--name=two")).isEqualTo(1);
    assertThat(errors())
        .contains("member one (")
        .contains("Error: no member has the name \"two\"; the members are [one]");
    assertThat(dir.resolve("b")).doesNotExist();
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException {
    Path etcd = etcd(NEWEST);
    Path data = dir.resolve("data");
    assertThat(OfflineCommands.run("migrate")).isEqualTo(128);
    assertThat(OfflineCommands.run("migrate", "--data-dir=d", "--target-version=3.5"))
        .isEqualTo(128);
    assertThat(migrate(etcd, data, "--initial-cluster=a=http://a:1")).isEqualTo(128);
    assertThat(migrate(dir.resolve("absent"), data)).isEqualTo(1);
    assertThat(data).doesNotExist();
    Files.createDirectory(data);
    Files.writeString(data.resolve("file"), "mine");
    assertThat(migrate(etcd, data)).isEqualTo(1);
    assertThat(errors())
        .contains("migrate requires --data-dir (of etcd) and --output")
        .contains("--target-version is a flag of etcdutl migrate")
        .contains("a new cluster requires --name, --initial-cluster and")
        .contains("absent/member/wal: no such file or directory; not a data directory of etcd?")
        .contains("data-dir \"" + data + "\" not empty or could not be read");
    assertThat(data.resolve("file")).hasContent("mine");
  }

  @Test
  void lockedDatabaseIsRefused() throws IOException {
    Path etcd = etcd(NEWEST);
    DatabaseLock.C library = Native.load("c", DatabaseLock.C.class);
    // As bbolt opens it: an exclusive lock.
    int file = library.open(etcd.resolve("member/snap/db").toString(), 2);
    library.flock(file, 2);
    try {
      assertThat(migrate(etcd, dir.resolve("data"))).isEqualTo(1);
    } finally {
      library.close(file);
    }
    assertThat(errors()).contains("member/snap/db is locked by another process: stop etcd first");
    assertThat(migrate(etcd, dir.resolve("data"))).as(errors()).isZero();
  }

  @Test
  void damagedLogLeavesNothingBehind() throws IOException {
    Path etcd = etcd(NEWEST);
    Path data = dir.resolve("data");
    Path wal = etcd.resolve("member/wal/0000000000000000-0000000000000000.wal");
    try (RandomAccessFile file = new RandomAccessFile(wal.toFile(), "rw")) {
      file.seek(9_000);
      int old = file.read();
      file.seek(9_000);
      file.write(old ^ 1);
    }
    assertThat(migrate(etcd, data)).isEqualTo(1);
    assertThat(errors())
        .contains("Error: the log is damaged: " + wal + " at position ")
        .contains("checksum mismatch");
    assertThat(data).doesNotExist();
  }

  /**
   * etcd writes the snapshot that it received into the log, then the hard state, and then replaces
   * its database. It was stopped before the last step.
   */
  @Test
  void snapshotThatEtcdHasNotInstalledIsRefused() throws IOException {
    for (boolean hardState : new boolean[] {false, true}) {
      Path etcd = etcd(NEWEST);
      append(etcd, 5, new byte[] {8, (byte) 0xf4, 3, 16, 9});
      if (hardState) {
        append(etcd, 3, new byte[] {8, 9, 16, 1, 24, (byte) 0xf4, 3});
      }
      Map<Path, Bytes> before = files(etcd);
      Path data = dir.resolve("data");
      assertThat(migrate(etcd, data)).isEqualTo(1);
      assertThat(errors())
          .contains(
              "Error: the log contains a snapshot of entry 500 that etcd has not installed in its"
                  + " database, which contains the entries up to ")
          .contains("start etcd once so that it installs the snapshot, or migrate another member")
          .doesNotContain("damaged");
      assertThat(data).doesNotExist();
      assertThat(files(etcd)).isEqualTo(before);
    }
  }

  /** Appends a record to the log, whose checksum continues that of the last one. */
  private static void append(Path etcd, int type, byte[] data) throws IOException {
    Path wal = etcd.resolve("member/wal/0000000000000000-0000000000000000.wal");
    ByteBuffer log = ByteBuffer.wrap(Files.readAllBytes(wal)).order(ByteOrder.LITTLE_ENDIAN);
    int crc = 0;
    while (log.getLong(log.position()) != 0) {
      long field = log.getLong();
      int length = (int) (field & ~(0xffL << 56));
      // The first fields: the type, and the checksum up to here.
      CodedInputStream record = CodedInputStream.newInstance(log.slice(log.position(), length));
      record.readTag();
      record.readInt64();
      record.readTag();
      crc = record.readUInt32();
      log.position(log.position() + length + (field < 0 ? (int) (field >>> 56) & 7 : 0));
    }
    CRC32C sum = new CRC32C();
    sum.update(data);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeInt64(1, type);
    out.writeUInt32(2, Crc32cJoin.join(crc, (int) sum.getValue(), data.length));
    out.writeByteArray(3, data);
    out.flush();
    int padding = (8 - bytes.size() % 8) % 8;
    log.putLong(bytes.size() | (padding == 0 ? 0 : (0x80L | padding) << 56));
    log.put(bytes.toByteArray());
    log.rewind();
    byte[] all = new byte[log.remaining()];
    log.get(all);
    Files.write(wal, all);
  }

  @Test
  void tornEndOfTheLogIsIgnored() throws IOException {
    Path etcd = etcd(NEWEST);
    Path wal = etcd.resolve("member/wal/0000000000000000-0000000000000000.wal");
    byte[] whole = Files.readAllBytes(wal);
    int end = (whole.length - 4096 + 7) / 8 * 8;
    // The beginning of another record.
    whole[end] = 100;
    Files.write(wal, Arrays.copyOf(whole, end + 50));
    assertThat(migrate(etcd, dir.resolve("data"))).as(errors()).isZero();
    assertThat(errors()).contains("ignored the torn end of the log: " + wal + " at position ");
    opened(dir.resolve("data"), machine -> assertThat(machine.currentRevision()).isEqualTo(67));
  }
}
