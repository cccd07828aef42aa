package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.RefusedException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The messages of a Snapshot stream, and who frees the file (MT8). */
class SnapshotSessionTest {
  private static final int FILE_BYTES = (1 << 20) + 4096;
  private static final int MEBIBYTE = 1 << 20;
  private static final long WINDOW = 8 * MEBIBYTE;
  private static final long REQUEST = 20 * MEBIBYTE;
  private static final long LARGEST = 60 * MEBIBYTE;

  /** Two parts, and nodes of the trees. */
  private static final long OWN = 2 * MEBIBYTE;

  private final FakeMember fake = new FakeMember(true);
  private final ExecutorService executor = Executors.newSingleThreadExecutor();
  private final AtomicInteger freed = new AtomicInteger();
  private final FakeFile file = new FakeFile();
  private final MemoryBudget budget = new MemoryBudget(100 * MEBIBYTE);
  private final MemoryBudget.Share memory = budget.share();

  @AfterEach
  void stop() {
    executor.shutdownNow();
    fake.close();
  }

  /** Zeros; a read waits for a permit. */
  private static final class FakeFile implements DatabaseFile {
    final Semaphore reads = new Semaphore(1000);
    final Semaphore waiting = new Semaphore(0);
    final AtomicInteger closes = new AtomicInteger();
    private int measures;
    private int left = FILE_BYTES;

    @Override
    public long revision() {
      return 7;
    }

    @Override
    public ClusterVersions versions() {
      return ClusterVersions.UNDECIDED;
    }

    @Override
    public boolean measure(int records) {
      return ++measures == 5;
    }

    @Override
    public long bytes() {
      return FILE_BYTES;
    }

    @Override
    public long mostBytesOfOne() {
      return LARGEST;
    }

    @Override
    public Bytes read(int most) {
      waiting.release();
      reads.acquireUninterruptibly();
      assertThat(closes).hasValue(0);
      int bytes = Math.min(most, left);
      left -= bytes;
      return Bytes.wrap(new byte[bytes]);
    }

    @Override
    public void close() {
      closes.incrementAndGet();
    }
  }

  private SnapshotSession session(long bytesPerSecond) {
    return new SnapshotSession(
        file,
        new SnapshotSession.Memory(memory, WINDOW, REQUEST),
        "3.7.0",
        bytesPerSecond,
        executor,
        fake.member.scheduler(),
        freed::incrementAndGet);
  }

  private static Optional<List<SnapshotResponse>> next(SnapshotSession session) throws Exception {
    return session.next().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void sendsTheFileThenItsHash_MT8() throws Exception {
    SnapshotSession session = session(1L << 30);
    List<SnapshotResponse> messages = new ArrayList<>();
    for (var part = next(session); part.isPresent(); part = next(session)) {
      messages.addAll(part.get());
    }
    assertThat(messages).hasSize(34);
    assertThat(messages.get(0).getRemainingBytes()).isEqualTo(FILE_BYTES - (32 << 10));
    assertThat(messages.get(32).getBlob().size()).isEqualTo(4096);
    assertThat(messages.get(32).getRemainingBytes()).isZero();
    assertThat(messages.get(33).getBlob())
        .isEqualTo(
            ByteString.copyFrom(MessageDigest.getInstance("SHA-256").digest(new byte[FILE_BYTES])));
    assertThat(messages).allMatch(message -> message.getVersion().equals("3.7.0"));
    session.close();
    session.close();
    assertThat(file.closes).hasValue(1);
    assertThat(freed).hasValue(1);
  }

  @Test
  void sessionCountsItsWindowAndItsLargestRecord() throws Exception {
    new SnapshotSession.Memory(memory, WINDOW, REQUEST).takeForMeasuring();
    assertThat(budget.taken()).isEqualTo(OWN + REQUEST);
    SnapshotSession session = session(1L << 30);
    assertThat(next(session)).isPresent();
    assertThat(budget.taken()).isEqualTo(OWN + WINDOW + LARGEST);
  }

  @Test
  void sessionWhoseLargestRecordDoesNotFitIntoTheMemoryOfClientsIsRefused() {
    budget.share().take(50 * MEBIBYTE);
    SnapshotSession session = session(1L << 30);
    assertThatThrownBy(() -> next(session))
        .hasRootCause(new RefusedException(Refusal.TOO_MANY_REQUESTS));
    session.close();
    assertThat(file.closes).hasValue(1);
    assertThat(freed).hasValue(1);
  }

  @Test
  void closeDuringReadFreesTheFileAfterTheRead() throws Exception {
    SnapshotSession session = session(1L << 30);
    file.reads.drainPermits();
    CompletableFuture<?> part = session.next().toCompletableFuture();
    assertThat(file.waiting.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
    session.close();
    assertThat(file.closes).hasValue(0);
    file.reads.release();
    part.get(60, TimeUnit.SECONDS);
    assertThat(file.closes).hasValue(1);
    assertThat(freed).hasValue(1);
    assertThatThrownBy(() -> next(session)).hasRootCauseMessage("context canceled");
  }

  /** 1.004 MiB at 4 MiB per second take a quarter of a second at least. */
  @Test
  void rateIsLimited() throws Exception {
    SnapshotSession session = session(4 << 20);
    long start = System.nanoTime();
    while (next(session).isPresent()) {
      assertThat(freed).hasValue(0);
    }
    assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(250));
  }
}
