package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.protobuf.ByteString;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sizes of log and snapshots stay within limits that follow from the settings, for any number
 * of writes.
 */
@Tag("full")
class DiskBoundsIT {
  private static final int PUTS = Integer.getInteger("troupe.bounds.puts", 200_000);
  private static final int KEYS = 1000;
  private static final int VALUE_BYTES = 256;

  /** Key, value, and the overhead of a log record. */
  private static final int RECORD_BYTES = VALUE_BYTES + 200;

  private static final int COMPACT_EVERY = 10_000;
  private static final int SNAPSHOT_COUNT = 5000;
  private static final long SEGMENT_BYTES = 1 << 20;
  private static final long WRITE_BUFFER_BYTES = 4 << 20;
  private static final long SEED = 11;
  private static final long RESERVE_BYTES = 16 << 20;

  private final Path temp;
  private final Path data;
  private final Jdk jdk;

  DiskBoundsIT(@TempDir Path temp) {
    this.temp = temp;
    this.data = temp.resolve("data");
    this.jdk = TestJdks.all().get(0);
  }

  @Test
  void logAndSnapshotsStayBoundedUnderManyWrites() throws Exception {
    Map<String, String> settings =
        Map.of(
            "snapshot-count", Integer.toString(SNAPSHOT_COUNT),
            "snapshot-min-interval", "100ms",
            "wal-segment-size", Long.toString(SEGMENT_BYTES),
            "store.write-buffer-bytes", Long.toString(WRITE_BUFFER_BYTES));
    long largestLog = 0;
    long largestAll = 0;
    try (NodeProcess member =
            NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START)
                .settings(settings)
                .start()
                .awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      long started = System.nanoTime();
      for (int done = 0; done < PUTS; done += COMPACT_EVERY) {
        putMany(client, Math.min(COMPACT_EVERY, PUTS - done), done);
        long revision = client.range("none", "nonf", 0).getHeader().getRevision();
        client.compact(revision, false);
        largestLog = Math.max(largestLog, bytesOnDisk("wal"));
        largestAll = Math.max(largestAll, bytesOnDisk("."));
      }
      double seconds = (System.nanoTime() - started) / 1e9;
      // Entries since the older of two snapshots, those of a snapshot in progress, and the
      // segments that the first and the last of them share.
      long restingLog = 3L * SNAPSHOT_COUNT * RECORD_BYTES + 3 * SEGMENT_BYTES;
      Awaitility.await("the log at rest is below " + restingLog)
          .atMost(Duration.ofSeconds(30))
          .until(() -> bytesOnDisk("wal") <= restingLog);
      long log = bytesOnDisk("wal");
      long all = bytesOnDisk(".");
      System.out.printf(
          "puts=%d per-second=%.0f written-bytes=%d log: at rest=%d largest=%d; all: at rest=%d"
              + " largest=%d%n",
          PUTS, PUTS / seconds, (long) PUTS * RECORD_BYTES, log, largestLog, all, largestAll);
      // Under continuous writes a snapshot may be late by its own duration.
      long busyLog = 2 * restingLog + COMPACT_EVERY * (long) RECORD_BYTES;
      assertThat(largestLog).isLessThanOrEqualTo(busyLog);
      // Live keys, the history of two compaction rounds in state and two snapshots, table files
      // that wait for their merge, and the log.
      long history = (KEYS + 2L * COMPACT_EVERY) * RECORD_BYTES * 2;
      long limit = busyLog + 3 * history + 16 * WRITE_BUFFER_BYTES + RESERVE_BYTES;
      assertThat(largestAll).isLessThanOrEqualTo(limit);
      try (Stream<Path> found = Files.list(data.resolve("snapshots"))) {
        assertThat(found.filter(path -> path.toString().endsWith(".manifest")))
            .hasSizeBetween(1, 2);
      }
      assertThat(client.range("key", "kez", 0).getKvsCount()).isEqualTo(KEYS);
    }
  }

  private static void putMany(EtcdClient client, int count, int from) throws InterruptedException {
    Random random = new Random(SEED + from);
    Semaphore window = new Semaphore(256);
    AtomicInteger failed = new AtomicInteger();
    for (int i = 0; i < count; i++) {
      byte[] value = new byte[VALUE_BYTES];
      random.nextBytes(value);
      String key = String.format("key%04d", (from + i) % KEYS);
      window.acquire();
      var answer =
          client.putLater(EtcdClient.put(EtcdClient.bytes(key), ByteString.copyFrom(value), 0));
      answer.addListener(
          () -> {
            if (!succeeded(answer)) {
              failed.incrementAndGet();
            }
            window.release();
          },
          MoreExecutors.directExecutor());
    }
    window.acquire(256);
    assertThat(failed).hasValue(0);
  }

  private static boolean succeeded(java.util.concurrent.Future<?> answer) {
    try {
      answer.get();
      return true;
    } catch (java.util.concurrent.ExecutionException e) {
      System.out.println("put failed: " + e.getCause());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Bytes of the files under a directory; a file with several links counts once. */
  private long bytesOnDisk(String actor) throws IOException {
    Set<Object> counted = new HashSet<>();
    long[] sum = {0};
    Files.walkFileTree(
        data.resolve(actor),
        new SimpleFileVisitor<Path>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            Object inode = attributes.fileKey();
            if (inode == null || counted.add(inode)) {
              sum[0] += attributes.size();
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException gone) {
            // The member removed the file meanwhile.
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path path, @Nullable IOException gone) {
            return FileVisitResult.CONTINUE;
          }
        });
    return sum[0];
  }
}
