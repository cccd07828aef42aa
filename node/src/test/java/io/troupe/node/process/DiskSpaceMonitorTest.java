package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DiskSpaceMonitorTest {
  private static final Path DATA = Path.of("data");
  private static final Path WAL = Path.of("wal");

  private final Map<Path, Long> usable = new ConcurrentHashMap<>();
  private final AtomicInteger reads = new AtomicInteger();
  private final DiskSpaceMonitor monitor =
      new DiskSpaceMonitor(List.of(DATA, WAL), 100, this::usable);

  private long usable(Path directory) throws IOException {
    reads.incrementAndGet();
    Long bytes = usable.get(directory);
    if (bytes == null) {
      throw new IOException("no file system at " + directory);
    }
    return bytes;
  }

  /** A snapshot that is saved on a disk which has just become full would stop the member. */
  @Test
  void freeBytesAreReadAtEachCall() {
    usable.put(DATA, 1000L);
    usable.put(WAL, 5000L);
    assertThat(monitor.freeBytes()).isEqualTo(1000);
    usable.put(DATA, 3L);
    assertThat(monitor.freeBytes()).isEqualTo(3);
    assertThat(monitor.isLow()).isTrue();
    usable.put(DATA, 9000L);
    assertThat(monitor.freeBytes()).as("of the fuller disk").isEqualTo(5000);
    assertThat(monitor.isLow()).isFalse();
  }

  @Test
  void writesDoNotReadTheFreeSpaceEachTime() {
    usable.put(DATA, 1000L);
    usable.put(WAL, 5000L);
    for (int i = 0; i < 100_000; i++) {
      assertThat(monitor.isLow()).isFalse();
    }
    assertThat(reads.get()).isBetween(2, 1000);
  }

  @Test
  void lastValueStaysWhenTheFileSystemCannotBeRead() {
    usable.put(DATA, 50L);
    usable.put(WAL, 5000L);
    assertThat(monitor.freeBytes()).isEqualTo(50);
    usable.clear();
    assertThat(monitor.freeBytes()).isEqualTo(50);
    assertThat(monitor.isLow()).isTrue();
  }
}
