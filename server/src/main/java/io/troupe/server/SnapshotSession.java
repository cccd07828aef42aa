package io.troupe.server;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.grpc.api.SnapshotResponse;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.DatabaseFile;
import io.troupe.protocol.RefusedException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/**
 * One Snapshot stream (MT8): the file in chunks of 32 KiB, then its SHA-256. The client pulls; each
 * part is read on the executor of long reads, and a pause after it limits the rate. The owner
 * closes the session, also while a part is being read.
 */
public final class SnapshotSession {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotSession.class);

  /** Memory of a session besides its records: two parts, and nodes of the trees. */
  private static final long OWN_BYTES = 2 << 20;

  private static final int CHUNK_BYTES = 32 << 10;
  private static final int PART_BYTES = 16 * CHUNK_BYTES;

  /** Records that are measured without giving the thread to other reads. */
  private static final int RECORDS_AT_ONCE = 10_000;

  /** Time by which the session may be ahead of its rate. */
  private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  private final DatabaseFile file;
  private final Memory memory;
  private final String version;
  private final long bytesPerSecond;
  private final Executor executor;
  private final Scheduler scheduler;
  private final Runnable onClose;
  private final MessageDigest digest = sha256();
  private final AtomicReference<Use> use = new AtomicReference<>(Use.IDLE);
  private final long startNanos = System.nanoTime();

  /** Bytes that are not read yet; -1 until all records are measured. */
  private long left = -1;

  /** When the next part may be sent. */
  private long dueNanos;

  private boolean complete;

  /**
   * Memory of a session. It holds one record at a time while it measures them, then a window of
   * records and the largest one in addition.
   *
   * @param share of the client
   * @param windowBytes window of the file
   * @param mostRequestBytes maximum size of a record of a member with unchanged settings
   */
  record Memory(MemoryBudget.Share share, long windowBytes, long mostRequestBytes) {
    /**
     * Counts what the session needs to measure the records.
     *
     * @throws RefusedException if the clients use up their memory
     */
    void takeForMeasuring() {
      take(OWN_BYTES + Math.max(windowBytes, mostRequestBytes));
    }

    private void takeForReading(long mostBytesOfOne) {
      share.shrinkTo(0);
      take(OWN_BYTES + windowBytes + mostBytesOfOne);
    }

    private void take(long bytes) {
      try {
        share.take(bytes);
      } catch (MemoryBudget.Exceeded exceeded) {
        throw new RefusedException(exceeded.reason());
      }
    }
  }

  private enum Use {
    IDLE,
    READING,
    /** Closed while a part is read: the reading thread frees the file. */
    CLOSE_WANTED,
    CLOSED
  }

  /**
   * Sends a file.
   *
   * @param file owned by the session
   * @param memory of which the caller has taken {@link Memory#takeForMeasuring}
   * @param version storage version in each message
   * @param bytesPerSecond maximum rate, 1 or more
   * @param executor runs the reads
   * @param onClose called once
   */
  SnapshotSession(
      DatabaseFile file,
      Memory memory,
      String version,
      long bytesPerSecond,
      Executor executor,
      Scheduler scheduler,
      Runnable onClose) {
    this.file = file;
    this.memory = memory;
    this.version = version;
    this.bytesPerSecond = bytesPerSecond;
    this.executor = executor;
    this.scheduler = scheduler;
    this.onClose = onClose;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** The next messages; empty at the end. One call at a time. */
  public CompletionStage<Optional<List<SnapshotResponse>>> next() {
    if (complete) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    CompletableFuture<List<SnapshotResponse>> part = new CompletableFuture<>();
    continueOn(part);
    return part.thenApply(Optional::of);
  }

  /** Measures some records or reads a part, and gives the thread back in between. */
  private void continueOn(CompletableFuture<List<SnapshotResponse>> part) {
    executor.execute(
        () -> {
          try {
            if (left >= 0) {
              paced(part, exclusive(this::readPart));
              return;
            }
            if (exclusive(() -> file.measure(RECORDS_AT_ONCE))) {
              begin();
            }
            continueOn(part);
          } catch (RuntimeException e) {
            part.completeExceptionally(e);
          }
        });
  }

  private <T> T exclusive(Supplier<T> work) {
    if (!use.compareAndSet(Use.IDLE, Use.READING)) {
      throw Call.canceled();
    }
    try {
      return work.get();
    } finally {
      if (!use.compareAndSet(Use.READING, Use.IDLE)) {
        free();
      }
    }
  }

  private void begin() {
    memory.takeForReading(file.mostBytesOfOne());
    left = file.bytes();
    dueNanos = System.nanoTime();
    LOG.info(
        "sending database snapshot to client total-bytes={} revision={} storage-version={}",
        left,
        file.revision(),
        version);
  }

  private List<SnapshotResponse> readPart() {
    List<SnapshotResponse> messages = new ArrayList<>();
    Bytes part = file.read(PART_BYTES);
    digest.update(part.backingArray(), part.backingOffset(), part.length());
    for (int at = 0; at < part.length(); at += CHUNK_BYTES) {
      Bytes chunk = part.slice(at, Math.min(at + CHUNK_BYTES, part.length()));
      left -= chunk.length();
      ByteString blob =
          UnsafeByteOperations.unsafeWrap(
              chunk.backingArray(), chunk.backingOffset(), chunk.length());
      messages.add(message(blob));
    }
    if (left == 0) {
      messages.add(message(ByteString.copyFrom(digest.digest())));
      complete = true;
      LOG.info(
          "successfully sent database snapshot to client total-bytes={} took={}",
          file.bytes(),
          Duration.ofMillis((System.nanoTime() - startNanos) / 1_000_000));
    }
    return messages;
  }

  private SnapshotResponse message(ByteString blob) {
    return SnapshotResponse.newBuilder()
        .setRemainingBytes(left)
        .setBlob(blob)
        .setVersion(version)
        .build();
  }

  /**
   * Completes the part when the rate permits it. Timers are coarse, so a wait that is shorter than
   * {@link #BURST_NANOS} is added to the next one.
   */
  private void paced(
      CompletableFuture<List<SnapshotResponse>> part, List<SnapshotResponse> messages) {
    long now = System.nanoTime();
    dueNanos = Math.max(dueNanos, now - BURST_NANOS) + (long) (PART_BYTES * NANOS / bytesPerSecond);
    if (dueNanos - now < BURST_NANOS) {
      part.complete(messages);
      return;
    }
    scheduler.scheduleOnce(
        Duration.ofNanos(dueNanos - now),
        () -> part.complete(messages),
        ExecutionContext.parasitic$.MODULE$);
  }

  /** Frees the state. Any thread; idempotent. */
  public void close() {
    if (use.compareAndSet(Use.IDLE, Use.CLOSED)) {
      free();
    } else {
      use.compareAndSet(Use.READING, Use.CLOSE_WANTED);
    }
  }

  private void free() {
    use.set(Use.CLOSED);
    try {
      file.close();
    } finally {
      onClose.run();
    }
  }
}
