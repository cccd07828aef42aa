package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.SnapshotRequest;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The Snapshot stream and the file that it sends (MT8, MT9, 8.6). */
class SnapshotConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final int CHUNK = 32 << 10;
  private static final ByteString LARGE = Requests.filled(1 << 20);

  private final Path dir;

  private final ApiClient client = STORE.client();

  SnapshotConformanceTest(@TempDir Path temp) {
    dir = temp;
  }

  private SlowStream<SnapshotRequest, SnapshotResponse> stream() {
    return new SlowStream<>(client, Api.SNAPSHOT, SnapshotRequest.getDefaultInstance());
  }

  private List<SnapshotResponse> snapshot() {
    return client.stream(Api.SNAPSHOT, SnapshotRequest.getDefaultInstance());
  }

  /** Saves all blobs but the trailer. */
  private Path saved(List<SnapshotResponse> messages) throws IOException {
    Path file = dir.resolve("db");
    try (OutputStream out = Files.newOutputStream(file)) {
      for (SnapshotResponse message : messages.subList(0, messages.size() - 1)) {
        message.getBlob().writeTo(out);
      }
    }
    return file;
  }

  private static byte[] sha256(Path file) throws IOException {
    try {
      return MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  private HashKVResponse hash() {
    return client.call(Api.HASH_KV, HashKVRequest.getDefaultInstance());
  }

  /** MT7 over the records of a file without compacted revisions. */
  private static int hash(BoltReader reader) {
    CRC32C crc = new CRC32C();
    crc.update("key".getBytes(StandardCharsets.US_ASCII));
    BoltWalk records = reader.walk("key");
    while (records.next()) {
      crc.update(records.key().toArray());
      crc.update(records.value().toArray());
    }
    return (int) crc.getValue();
  }

  @Test
  void fileIsSentInChunksWithItsHash_MT8_MT9() throws IOException {
    client.put(put(STORE.key("a"), "").setValue(LARGE));
    String version =
        client.call(Api.STATUS, StatusRequest.getDefaultInstance()).getStorageVersion();

    List<SnapshotResponse> messages = snapshot();

    SnapshotResponse trailer = messages.get(messages.size() - 1);
    Path file = saved(messages);
    assertThat(Files.size(file)).isGreaterThan(1 << 20);
    assertThat(Files.size(file) % 512).isZero();
    assertThat(trailer.getBlob().toByteArray()).isEqualTo(sha256(file));
    assertThat(trailer.getRemainingBytes()).isZero();
    long left = Files.size(file);
    for (SnapshotResponse message : messages.subList(0, messages.size() - 1)) {
      assertThat(message.getBlob().size()).isEqualTo((int) Math.min(CHUNK, left));
      left -= message.getBlob().size();
      assertThat(message.getRemainingBytes()).isEqualTo(left);
      assertThat(message.getVersion()).isEqualTo(version);
      assertThat(message.hasHeader()).isFalse();
    }
    assertThat(left).isZero();
  }

  @Test
  void fileContainsTheHistory_MT7_MT8() throws IOException {
    STORE.needsFreshStore();
    long lease = client.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build()).getID();
    for (int i = 0; i < 300; i++) {
      client.put(put(STORE.key("k" + i % 40), "v" + i).setLease(i % 3 == 0 ? lease : 0));
      if (i % 7 == 0) {
        client.delete(Requests.delete(STORE.key("k" + (i * 3) % 40)));
      }
    }
    try (BoltReader reader = BoltReader.open(saved(snapshot()))) {
      assertThat(hash(reader)).isEqualTo(hash().getHash());
      assertThat(rows(reader, "lease")).isNotEmpty();
      assertThat(rows(reader, "members")).hasSize(1);
      assertThat(rows(reader, "meta"))
          .extracting(Bytes::utf8)
          .contains("confState", "consistent_index", "storageVersion", "term");
      assertThat(rows(reader, "auth")).isNotEmpty();
    }
  }

  private static List<Bytes> rows(BoltReader reader, String bucket) {
    List<Bytes> keys = new ArrayList<>();
    BoltWalk walk = reader.walk(bucket);
    while (walk.next()) {
      keys.add(walk.key());
    }
    return keys;
  }

  /** The file is larger than the buffers on the way, so most of it is read after the writes. */
  @Test
  void writesDuringTheStreamAreNotInTheFile() throws IOException {
    STORE.needsFreshStore();
    for (int i = 0; i < 30; i++) {
      client.put(put(STORE.key("large" + i), "").setValue(LARGE));
    }
    int before = hash().getHash();
    var stream = stream();
    List<SnapshotResponse> messages = new ArrayList<>();
    messages.add(stream.next());
    for (int i = 0; i < 30; i++) {
      client.put(STORE.key("large" + i), "newer");
    }
    assertThat(stream.drain()).isEqualTo(Status.OK);
    messages.addAll(stream.rest());
    Path file = saved(messages);
    assertThat(messages.get(messages.size() - 1).getBlob().toByteArray()).isEqualTo(sha256(file));
    try (BoltReader reader = BoltReader.open(file)) {
      assertThat(hash(reader)).isEqualTo(before);
    }
  }

  /** Each stream holds memory and deleted records, so their number is limited. */
  @Test
  void thirdStreamAtOnceIsRefused() {
    STORE.needsOwn();
    for (int i = 0; i < 30; i++) {
      client.put(put(STORE.key("large" + i), "").setValue(LARGE));
    }
    var first = stream();
    var second = stream();
    first.next();
    second.next();

    Status third = stream().drain();

    assertThat(third.getCode()).isEqualTo(Code.UNKNOWN);
    assertThat(third.getDescription()).isEqualTo("etcdserver: too many requests");
    first.cancel();
    assertThat(first.end().getCode()).isEqualTo(Code.CANCELLED);
    ServedStore.await().until(() -> stream().drain().isOk());
    assertThat(second.drain()).isEqualTo(Status.OK);
  }
}
