package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.report.Cell;
import io.troupe.grpc.api.CompactionRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashKVResponse;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs a heavy operation while puts arrive at a fixed rate, and measures its effect on their
 * latency.
 */
final class StallProfiles {
  private static final long CALL_TIMEOUT_MS = 3_600_000;
  private static final int READERS = 2;

  private StallProfiles() {}

  /** The compaction of a long history. */
  static List<Cell> compaction(Target target) {
    Profiles.fill(target, target.settings().history());
    return WorkBesidePuts.once(
        target,
        "compaction",
        "revisions",
        connection -> {
          long revision = Calls.revision(connection);
          byte[] request =
              CompactionRequest.newBuilder()
                  .setRevision(revision)
                  .setPhysical(true)
                  .build()
                  .toByteArray();
          connection.call(EtcdMethod.COMPACT, request, CALL_TIMEOUT_MS);
          return revision;
        });
  }

  /** Puts before, during and after two clients read all keys repeatedly. */
  static List<Cell> longRead(Target target) {
    byte[] all = target.keyspace().all(false).toByteArray();
    int leastBytes = target.keyspace().size() * target.settings().valueBytes();
    target.awaitQuiet();
    try (PacedLoad puts = PacedLoad.puts(target, "long-read");
        Connections connections = target.connect(READERS)) {
      pause(target.settings().warmUp());
      puts.begin("before");
      pause(target.settings().duration());
      puts.begin("during");
      Window window = Window.after(Duration.ZERO, target.settings().duration());
      Runnable lastReply =
          ClosedLoop.background(
              connections,
              READERS,
              window,
              i ->
                  new RandomRequests(
                      EtcdMethod.RANGE, 1, n -> all, leastBytes, new SplittableRandom(i)));
      Window.waitUntil(window.until());
      lastReply.run();
      puts.begin("after");
      pause(target.settings().duration());
      return puts.finish();
    }
  }

  private static void pause(Duration time) {
    Window.waitUntil(System.nanoTime() + time.toNanos());
  }

  /** A client saves a snapshot, again and again. */
  static List<Cell> snapshotSave(Target target) {
    long leastBytes = (long) target.keyspace().size() * target.settings().valueBytes();
    return WorkBesidePuts.repeatedly(
        target,
        "snapshot-save",
        "bytes",
        connection -> atLeast(leastBytes, SnapshotStream.discard(connection)));
  }

  private static long atLeast(long leastBytes, long bytes) {
    if (bytes < leastBytes) {
      throw new IllegalStateException(bytes + " bytes, but the values have " + leastBytes);
    }
    return bytes;
  }

  /** A client requests the hash of all keys, again and again. */
  static List<Cell> hash(Target target) {
    byte[] request = HashKVRequest.getDefaultInstance().toByteArray();
    return WorkBesidePuts.repeatedly(
        target,
        "hash",
        "keys",
        connection -> {
          if (hash(connection, request) == 0) {
            throw new IllegalStateException("the hash of all keys is 0");
          }
          return target.keyspace().size();
        });
  }

  private static int hash(Connections connection, byte[] request) {
    try {
      return HashKVResponse.parseFrom(
              connection.call(EtcdMethod.HASH_KV, request, CALL_TIMEOUT_MS).body())
          .getHash();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("not a response to HashKV", e);
    }
  }

  /** Watchers that start a long history in the past, one after the other. */
  static List<Cell> history(Target target) {
    int revisions = target.settings().history();
    Profiles.fill(target, revisions);
    return WorkBesidePuts.repeatedly(
        target,
        "history",
        "events",
        connection -> {
          // Every revision is a put of one key, before and during the work.
          long until = Calls.revision(connection);
          long events = CatchUp.run(connection, Keyspace.prefix(), until - revisions + 1, until);
          if (events != revisions) {
            throw new IllegalStateException(events + " events of " + revisions + " revisions");
          }
          return events;
        });
  }
}
