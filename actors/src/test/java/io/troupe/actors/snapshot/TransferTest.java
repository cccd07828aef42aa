package io.troupe.actors.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotManifest;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.protocol.SnapshotMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sender and receiver of a snapshot; the test controls time and network. */
class TransferTest {
  private static final NodeId LEADER = new NodeId(1);
  private static final NodeId FOLLOWER = new NodeId(2);
  private static final TransferSettings SETTINGS =
      new TransferSettings(1 << 20, 1000, 4, Duration.ofSeconds(1), Duration.ofSeconds(30));

  private final SnapshotDirectory source;
  private final SnapshotDirectory target;
  private final SnapshotManifest manifest;
  private final Path content;
  private final List<SnapshotMessage> toReceiver = new ArrayList<>();
  private final RateLimit unlimited = new RateLimit(1L << 40, 0);
  private @Nullable IncomingTransfer incoming;
  private long now;

  TransferTest(@TempDir Path temp) throws IOException {
    source = new SnapshotDirectory(temp.resolve("source"));
    target = new SnapshotDirectory(temp.resolve("target"));
    content = source.prepare(10, 3);
    Files.createDirectories(content);
    Random random = new Random(5);
    for (String name : List.of("000001.sst", "000002.sst", "CURRENT", "EMPTY", "Z-EMPTY")) {
      byte[] data = new byte[name.endsWith("EMPTY") ? 0 : 1 + random.nextInt(9000)];
      random.nextBytes(data);
      Files.write(content.resolve(name), data);
    }
    SnapshotRef ref = new SnapshotRef(10, 3, Bytes.of(1, 2), content);
    source.save(ref);
    manifest = source.manifest(ref);
  }

  private OutgoingTransfer outgoing() {
    return new OutgoingTransfer(FOLLOWER, 77, 4, manifest, content, SETTINGS, toReceiver::add);
  }

  /** Handles a message as the receiver does; returns its reply, or null. */
  private SnapshotMessage.@Nullable Have receive(SnapshotMessage message) throws IOException {
    if (message instanceof SnapshotMessage.Offer offer) {
      IncomingTransfer current = incoming;
      if (current == null) {
        current =
            new IncomingTransfer(
                SnapshotManifest.decode(offer.manifest().toArray()),
                target.prepareReceived(SnapshotManifest.decode(offer.manifest().toArray())),
                new IncomingTransfer.Source(LEADER, offer.transfer(), offer.term()),
                nanos -> {});
        incoming = current;
      }
      return current.have();
    }
    IncomingTransfer current = incoming;
    if (current == null) {
      return null;
    }
    current.take((SnapshotMessage.Chunk) message);
    return current.have();
  }

  private boolean isComplete() {
    return incoming != null && incoming.isComplete();
  }

  private void adoptAndCompare() {
    SnapshotRef adopted = target.adopt(manifest);
    target.verify(adopted);
    assertThat(target.has(10, 3)).isTrue();
    assertThat(target.latest(Long.MAX_VALUE).orElseThrow().membership()).isEqualTo(Bytes.of(1, 2));
  }

  @Test
  void snapshotArrivesAndWindowIsNeverExceeded() throws IOException {
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      while (!isComplete()) {
        List<SnapshotMessage> sent = List.copyOf(toReceiver);
        toReceiver.clear();
        assertThat(sent).hasSizeBetween(1, SETTINGS.window());
        for (SnapshotMessage message : sent) {
          SnapshotMessage.Have have = receive(message);
          if (have != null) {
            transfer.have(have, unlimited, now);
          }
        }
      }
    }
    adoptAndCompare();
  }

  /**
   * Messages in both directions are lost, repeated and delayed; connections are cut; the receiver
   * restarts.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
  void snapshotArrivesOverUnreliableNetwork(long seed) throws IOException {
    Random random = new Random(seed);
    List<SnapshotMessage.Have> toSender = new ArrayList<>();
    int restarts = 0;
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      for (int step = 0; !isComplete(); step++) {
        assertThat(step).as("seed=" + seed).isLessThan(100_000);
        now += 20_000_000;
        boolean outage = random.nextInt(200) < 20;
        if (!toReceiver.isEmpty()) {
          SnapshotMessage message =
              toReceiver.remove(random.nextInt(4) == 0 ? random.nextInt(toReceiver.size()) : 0);
          int copies = outage ? 0 : random.nextInt(10) == 0 ? 2 : 1;
          for (int i = 0; i < copies; i++) {
            SnapshotMessage.Have have = receive(message);
            if (have != null && random.nextInt(10) != 0) {
              toSender.add(have);
            }
          }
        }
        if (!toSender.isEmpty() && random.nextInt(3) != 0) {
          transfer.have(toSender.remove(random.nextInt(toSender.size())), unlimited, now);
        }
        if (restarts < 3 && random.nextInt(150) == 0) {
          restarts++;
          if (incoming != null) {
            incoming.close();
          }
          incoming = null;
        }
        transfer.pump(unlimited, now);
        assertThat(transfer.isTimedOut(now)).isFalse();
      }
    }
    adoptAndCompare();
  }

  @Test
  void transferToUnresponsiveReceiverFails() throws IOException {
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      for (int second = 0; second < 29; second++) {
        now += 1_000_000_000L;
        transfer.pump(unlimited, now);
        assertThat(transfer.isTimedOut(now)).isFalse();
      }
      assertThat(toReceiver).as("offered once a second").hasSize(30);
      now += 1_000_000_000L;
      assertThat(transfer.isTimedOut(now)).isTrue();
    }
  }

  @Test
  void damagedChunkIsIgnored() throws IOException {
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      transfer.have(Objects.requireNonNull(receive(toReceiver.remove(0))), unlimited, now);
    }
    SnapshotMessage.Chunk chunk = (SnapshotMessage.Chunk) toReceiver.get(0);
    byte[] flipped = chunk.data().toArray();
    flipped[0] ^= 1;
    SnapshotMessage.Chunk damaged =
        new SnapshotMessage.Chunk(
            chunk.transfer(), chunk.file(), chunk.offset(), Bytes.wrap(flipped), chunk.crc32c());
    assertThat(receive(damaged)).isEqualTo(new SnapshotMessage.Have(77, 0, 0));
  }

  /** The sender detects the damage itself, independently of the receiver. */
  @Test
  void damagedFileOfSenderEndsTransferAtSender() throws IOException {
    Files.write(content.resolve("000002.sst"), new byte[(int) manifest.files().get(1).size()]);
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      assertThatThrownBy(() -> exchangeUntilFile(transfer, 2))
          .isInstanceOfSatisfying(
              DamagedFileException.class,
              damaged -> assertThat(damaged.file()).isEqualTo(manifest.files().get(1)));
    }
    assertThat(Objects.requireNonNull(incoming).have().file()).isEqualTo(1);
  }

  /** Chunks that are sent again, or start in the middle, do not defeat the check. */
  @Test
  void fileSentInSeveralAttemptsIsChecked() throws IOException {
    long size = manifest.files().get(0).size();
    for (boolean damaged : List.of(false, true)) {
      if (damaged) {
        byte[] bytes = Files.readAllBytes(content.resolve("000001.sst"));
        bytes[0] ^= 1;
        Files.write(content.resolve("000001.sst"), bytes);
      }
      toReceiver.clear();
      try (OutgoingTransfer transfer = outgoing()) {
        transfer.begin(now);
        SnapshotMessage.Have middle = new SnapshotMessage.Have(77, 0, size - size % 1000);
        if (damaged) {
          assertThatThrownBy(() -> transfer.have(middle, unlimited, now))
              .isInstanceOf(DamagedFileException.class);
        } else {
          transfer.have(middle, unlimited, now);
          assertThat(toReceiver.get(1)).isInstanceOf(SnapshotMessage.Chunk.class);
        }
      }
    }
  }

  /** Delivers all messages until the receiver has started that file. */
  private void exchangeUntilFile(OutgoingTransfer transfer, int file) throws IOException {
    while (incoming == null || incoming.have().file() < file) {
      SnapshotMessage.Have have = receive(toReceiver.remove(0));
      if (have != null) {
        transfer.have(have, unlimited, now);
      }
    }
  }

  private void restartReceiver() throws IOException {
    Objects.requireNonNull(incoming).close();
    incoming = null;
    new SnapshotDirectory(target.root()).removeStrays();
  }

  @Test
  void receiverKeepsCompleteFilesAcrossRestart() throws IOException {
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      exchangeUntilFile(transfer, 1);
      restartReceiver();
      toReceiver.clear();
      now += SETTINGS.retry().toNanos();
      transfer.pump(unlimited, now);
      exchangeUntilFile(transfer, 1);
      assertThat(toReceiver).as("nothing of the first file is sent again").isNotEmpty();
      while (!isComplete()) {
        if (toReceiver.get(0) instanceof SnapshotMessage.Chunk chunk) {
          assertThat(chunk.file()).isPositive();
        }
        exchangeOne(transfer);
      }
    }
    adoptAndCompare();
  }

  private void exchangeOne(OutgoingTransfer transfer) throws IOException {
    SnapshotMessage.Have have = receive(toReceiver.remove(0));
    if (have != null) {
      transfer.have(have, unlimited, now);
    }
  }

  /** After a power failure the file has its name, but the record differs. */
  @Test
  void receiverIgnoresFilesWithoutMatchingRecord() throws IOException {
    Path receiving = target.root().resolve("receiving");
    target.prepareReceived(manifest);
    long size = manifest.files().get(0).size();
    Files.write(receiving.resolve("000001.sst"), new byte[(int) size - 1]);
    assertThat(target.prepareReceived(manifest).has("000001.sst")).as("too short").isFalse();
    Files.write(receiving.resolve("000001.sst"), new byte[(int) size]);
    Files.write(target.root().resolve("receiving.manifest"), new byte[] {1});
    assertThat(target.prepareReceived(manifest).has("000001.sst")).as("no record").isFalse();
    assertThat(receiving).isEmptyDirectory();
    Files.delete(target.root().resolve("receiving.manifest"));
    new SnapshotDirectory(target.root()).removeStrays();
    assertThat(target.root()).isEmptyDirectory();
  }

  /** While one snapshot is in flight, the leader creates the next; most table files are equal. */
  @Test
  void nextSnapshotTransfersOnlyNewFiles() throws IOException {
    try (OutgoingTransfer transfer = outgoing()) {
      transfer.begin(now);
      exchangeUntilFile(transfer, 2);
    }
    Path next = source.prepare(20, 3);
    Files.createDirectories(next);
    for (String name : List.of("000001.sst", "000002.sst")) {
      Files.createLink(next.resolve(name), content.resolve(name));
    }
    Files.write(next.resolve("000003.sst"), new byte[5000]);
    Files.write(next.resolve("CURRENT"), new byte[] {7});
    SnapshotRef ref = new SnapshotRef(20, 3, Bytes.of(1, 2), next);
    source.save(ref);
    restartReceiver();
    toReceiver.clear();
    List<Integer> files = new ArrayList<>();
    try (OutgoingTransfer transfer =
        new OutgoingTransfer(
            FOLLOWER, 78, 4, source.manifest(ref), next, SETTINGS, toReceiver::add)) {
      transfer.begin(now);
      while (!isComplete()) {
        if (toReceiver.get(0) instanceof SnapshotMessage.Chunk chunk) {
          files.add(chunk.file());
        }
        exchangeOne(transfer);
      }
    }
    assertThat(files).containsOnly(2, 3);
    target.verify(target.adopt(source.manifest(ref)));
    assertThat(target.root().resolve("receiving.manifest")).doesNotExist();
  }

  @Test
  void receivedFilesAreDiscardedWhenStateHasTheirIndex() throws IOException {
    target.prepareReceived(manifest);
    target.discardReceived(9);
    assertThat(target.root().resolve("receiving")).exists();
    target.discardReceived(10);
    assertThat(target.root()).isEmptyDirectory();
  }

  @Test
  void rateLimitIsRespected() {
    RateLimit limit = new RateLimit(1 << 20, 0);
    long sent = 0;
    for (long millis = 0; millis < 10_000; millis++) {
      while (limit.take(1000, millis * 1_000_000)) {
        sent += 1000;
      }
    }
    assertThat(sent).isBetween(10L * (1 << 20) * 95 / 100, 10L * (1 << 20) * 105 / 100);
  }

  @Test
  void pinnedContentOutlivesItsSnapshot() throws IOException {
    SnapshotRef ref = source.latest(Long.MAX_VALUE).orElseThrow();
    Path pinned = source.pin(ref, "a");
    byte[] before = Files.readAllBytes(content.resolve("000001.sst"));
    source.delete(0, 100);
    assertThat(content).doesNotExist();
    assertThat(Files.readAllBytes(pinned.resolve("000001.sst"))).isEqualTo(before);
    source.unpin("a");
    assertThat(pinned).doesNotExist();
  }
}
