package io.troupe.model;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that clients may make this process hold, all together: requests that are not complete,
 * responses from the moment they are gathered until the socket has taken them, events that wait for
 * a slow watcher. When it is used up the newest requests are refused, except those of holders that
 * hold next to nothing; so a few clients cannot exclude the others. Thread-safe.
 */
public final class MemoryBudget {
  /** For callers that are bounded by other means. */
  public static final MemoryBudget UNLIMITED = new MemoryBudget(Long.MAX_VALUE);

  /** What a record weighs besides its bytes, about. */
  private static final int RECORD_BYTES = 150;

  /**
   * Taken at once while a response is gathered, so that small ones never touch the shared count.
   */
  private static final long STEP = 64 << 10;

  private final long maxBytes;
  private final long freeBytes;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /** For requests of this process itself. */
  private final Holder own = new Holder(0);

  /**
   * A budget.
   *
   * @param maxBytes of all that is held at one time
   */
  public MemoryBudget(long maxBytes) {
    this(maxBytes, 0);
  }

  /**
   * A budget.
   *
   * @param maxBytes of all that is held at one time
   * @param freeBytes what each holder may have even if nothing is left; the owner limits the number
   *     of holders
   */
  public MemoryBudget(long maxBytes, long freeBytes) {
    this.maxBytes = maxBytes;
    this.freeBytes = freeBytes;
  }

  /** Bytes that are taken now. */
  public long taken() {
    return taken.get();
  }

  /** Most bytes that may be taken. */
  public long maxBytes() {
    return maxBytes;
  }

  /** How often there was no room. */
  public long refused() {
    return refused.get();
  }

  /** What one response of this process itself takes: nothing yet. */
  public Share share() {
    return own.share();
  }

  /** A client connection, which holds nothing yet. */
  public Holder holder() {
    return new Holder(freeBytes);
  }

  /** There is no room. */
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

  /** What one client connection holds, by all of its shares. Thread-safe. */
  public final class Holder {
    private final long free;
    private final AtomicLong held = new AtomicLong();

    private Holder(long free) {
      this.free = free;
    }

    /** What one call takes: nothing yet. */
    public Share share() {
      return new Share(this);
    }

    /** Bytes of all shares. */
    public long held() {
      return held.get();
    }

    /** True if nothing is left, for this holder. */
    public boolean isExceeded() {
      return taken.get() > maxBytes && held.get() > free;
    }

    private void add(long bytes) {
      held.addAndGet(bytes);
      taken.addAndGet(bytes);
    }
  }

  /** What one call takes. One thread at a time, but for {@link #close}. */
  public final class Share implements AutoCloseable {
    private final Holder holder;
    private long loose;
    private long mine;
    private boolean closed;

    private Share(Holder holder) {
      this.holder = holder;
    }

    /**
     * Counts a record: it will be there twice, as it was read and as it is sent.
     *
     * @throws Exceeded if there is no room for it
     */
    public void add(KeyValue kv) {
      add(RECORD_BYTES + 2L * (kv.key().length() + kv.value().length()));
    }

    /**
     * Counts bytes of something that is small most often: nothing is taken before there are 64 KiB
     * of it.
     *
     * @throws Exceeded if there is no room for them, or the share is closed: nobody waits any more
     */
    public void add(long bytes) {
      loose += bytes;
      if (loose >= STEP) {
        long all = loose;
        loose = 0;
        take(all);
      }
    }

    /**
     * Counts bytes at once. They stay counted if there is no room for them.
     *
     * @throws Exceeded as {@link #add(long)}
     */
    public synchronized void take(long bytes) {
      if (closed) {
        throw new Exceeded(Refusal.TOO_MANY_REQUESTS);
      }
      change(bytes);
      if (holder.isExceeded()) {
        refused.incrementAndGet();
        throw new Exceeded(mine > maxBytes ? Refusal.ANSWER_TOO_LARGE : Refusal.TOO_MANY_REQUESTS);
      }
    }

    /**
     * Ends work for a client that has left.
     *
     * @throws Exceeded if the share is closed: nobody waits any more
     */
    public void requireOpen() {
      if (isClosed()) {
        throw new Exceeded(Refusal.TOO_MANY_REQUESTS);
      }
    }

    /** True once the owner has given everything back: the response is sent, or not wanted. */
    public synchronized boolean isClosed() {
      return closed;
    }

    /** True if nothing is left for the holder, or the share is closed: nobody waits any more. */
    public synchronized boolean isExceeded() {
      return closed || holder.isExceeded();
    }

    /** All that is left are these bytes. Never refused. */
    public synchronized void shrinkTo(long bytes) {
      loose = 0;
      if (!closed) {
        change(bytes - mine);
      }
    }

    private void change(long bytes) {
      mine += bytes;
      holder.add(bytes);
    }

    /** Gives everything back. From any thread, any number of times. */
    @Override
    public synchronized void close() {
      if (!closed) {
        change(-mine);
        closed = true;
      }
    }
  }
}
