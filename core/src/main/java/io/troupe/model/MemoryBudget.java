package io.troupe.model;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that answers may take from the moment they are gathered until they are sent, shared by all
 * calls: however large a range is, and however slowly clients read, that ends in a refusal and not
 * in a full heap. Thread-safe.
 */
public final class MemoryBudget {
  /** For whoever answers for the size by other means. */
  public static final MemoryBudget UNLIMITED = new MemoryBudget(Long.MAX_VALUE);

  /** What a record weighs besides its bytes, about. */
  private static final int RECORD_BYTES = 150;

  /** Taken at once, so that small answers never touch what all calls share. */
  private static final long STEP = 64 << 10;

  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  /**
   * A budget.
   *
   * @param maxBytes of all answers that exist at one time
   */
  public MemoryBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Bytes that are taken now. */
  public long taken() {
    return taken.get();
  }

  /** What one answer takes: nothing yet. */
  public Share share() {
    return new Share();
  }

  /** There is no room for an answer. */
  public static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Refusal reason;

    private Exceeded(Refusal reason) {
      super(reason.name(), null, false, false);
      this.reason = reason;
    }

    /** ANSWER_TOO_LARGE if it is so by itself, TOO_MANY_REQUESTS if others have taken the room. */
    public Refusal reason() {
      return reason;
    }
  }

  /** What one answer takes. One thread at a time, but for {@link #close}. */
  public final class Share implements AutoCloseable {
    private long loose;
    private long mine;
    private boolean closed;

    private Share() {}

    /**
     * Counts a record: it will be there twice, as it was read and as it is sent.
     *
     * @throws Exceeded if there is no room for it
     */
    public void add(KeyValue kv) {
      add(RECORD_BYTES + 2L * (kv.key().length() + kv.value().length()));
    }

    /**
     * Counts bytes.
     *
     * @throws Exceeded if there is no room for them
     */
    public void add(long bytes) {
      loose += bytes;
      if (loose >= STEP) {
        addLoose();
      }
    }

    private synchronized void addLoose() {
      long all = take(loose);
      loose = 0;
      if (all > maxBytes) {
        throw new Exceeded(mine > maxBytes ? Refusal.ANSWER_TOO_LARGE : Refusal.TOO_MANY_REQUESTS);
      }
    }

    /** True once the owner has given everything back: the response is sent, or not wanted. */
    public synchronized boolean isClosed() {
      return closed;
    }

    /** All that is left of the answer are these bytes. Never refused. */
    public synchronized void shrinkTo(long bytes) {
      loose = 0;
      take(bytes - mine);
    }

    private long take(long bytes) {
      if (closed) {
        return 0;
      }
      mine += bytes;
      return taken.addAndGet(bytes);
    }

    /** Gives everything back. From any thread, any number of times. */
    @Override
    public synchronized void close() {
      take(-mine);
      closed = true;
    }
  }
}
