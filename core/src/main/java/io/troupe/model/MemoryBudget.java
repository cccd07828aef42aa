package io.troupe.model;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory that all clients together may occupy in this process: incomplete requests,
 * responses from the moment they are gathered until the socket has accepted them, and events that
 * wait for a slow watcher. When the budget is used up, the newest requests are refused, except
 * those of holders that occupy very little. So a few clients cannot exclude all other clients.
 * Thread-safe.
 */
public final class MemoryBudget {
  /** For callers that are limited by other means. */
  public static final MemoryBudget UNLIMITED = new MemoryBudget(Long.MAX_VALUE);

  /** Approximate overhead of a record in addition to its bytes. */
  private static final int RECORD_BYTES = 150;

  /**
   * Granularity in which a share takes bytes while a response is gathered, so that small responses
   * never touch the shared counter.
   */
  private static final long STEP = 64 << 10;

  private final long maxBytes;
  private final long freeBytes;
  private final long stepBytes;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /** For requests of this process itself. */
  private final Holder own = new Holder(0);

  /**
   * Creates a budget.
   *
   * @param maxBytes limit for all bytes that are held at the same time
   */
  public MemoryBudget(long maxBytes) {
    this(maxBytes, 0);
  }

  /**
   * Creates a budget.
   *
   * @param maxBytes limit for all bytes that are held at the same time
   * @param freeBytes bytes that each holder may take even if the budget is used up; the owner
   *     limits the number of holders
   */
  public MemoryBudget(long maxBytes, long freeBytes) {
    this(maxBytes, freeBytes, STEP);
  }

  /**
   * Creates a budget for small responses.
   *
   * @param maxBytes limit for all bytes that are held at the same time
   * @param freeBytes bytes that each holder may take even if the budget is used up
   * @param stepBytes bytes that a share counts by itself before it takes them from the budget
   */
  public MemoryBudget(long maxBytes, long freeBytes, long stepBytes) {
    this.maxBytes = maxBytes;
    this.freeBytes = freeBytes;
    this.stepBytes = stepBytes;
  }

  /** Bytes that are currently taken. */
  public long taken() {
    return taken.get();
  }

  /** Limit of the budget in bytes. */
  public long maxBytes() {
    return maxBytes;
  }

  /** How often the budget was exceeded. */
  public long refused() {
    return refused.get();
  }

  /** Creates an empty share for one response of this process itself. */
  public Share share() {
    return own.share();
  }

  /** Creates a holder for a client connection, which holds nothing yet. */
  public Holder holder() {
    return new Holder(freeBytes);
  }

  /** The budget is exceeded. */
  public static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Refusal reason;

    private Exceeded(Refusal reason) {
      super(reason.name(), null, false, false);
      this.reason = reason;
    }

    /**
     * ANSWER_TOO_LARGE if the response alone exceeds the budget, TOO_MANY_REQUESTS if other holders
     * use it up.
     */
    public Refusal reason() {
      return reason;
    }
  }

  /** Memory that one client connection holds, in all of its shares. Thread-safe. */
  public final class Holder {
    private final long free;
    private final AtomicLong held = new AtomicLong();

    /** Part of it: responses of streams that were passed to the connection and are not sent. */
    private final AtomicLong unsent = new AtomicLong();

    private Holder(long free) {
      this.free = free;
    }

    /** Creates an empty share for one call. */
    public Share share() {
      return new Share(this);
    }

    /** Bytes of all shares. */
    public long held() {
      return held.get();
    }

    /** True if the budget is used up for this holder. */
    public boolean isExceeded() {
      return taken.get() > maxBytes && held.get() > free;
    }

    /**
     * True if the budget is used up and the connection of this holder does not send what it has:
     * more would only take memory.
     */
    private boolean isHeldBack() {
      return taken.get() > maxBytes && unsent.get() > free;
    }

    private void add(long bytes) {
      held.addAndGet(bytes);
      taken.addAndGet(bytes);
    }
  }

  /** Memory that one call holds. One thread at a time, except for {@link #close}. */
  public final class Share implements AutoCloseable {
    private final Holder holder;
    private long loose;
    private long mine;

    /** Parts of {@link #mine} that are responses of a stream: passed on; encoded and not sent. */
    private long handed;

    private long inTransit;

    /** Part of {@link #mine}: reservations. */
    private long reserved;

    private boolean tracked;
    private boolean closed;

    private Share(Holder holder) {
      this.holder = holder;
    }

    /**
     * Creates an empty share of the same holder, for an owner that may keep its memory longer than
     * the call lasts.
     */
    public Share sibling() {
      return holder.share();
    }

    /**
     * Counts a record twice: as it was read and as it is sent.
     *
     * @throws Exceeded if the budget is exceeded
     */
    public void add(KeyValue kv) {
      add(RECORD_BYTES + 2L * (kv.key().length() + kv.value().length()));
    }

    /**
     * Counts bytes of an object that is usually small: takes nothing from the budget before a step
     * (64 KiB) is counted.
     *
     * @throws Exceeded if the budget is exceeded, or if the share is closed because the client no
     *     longer waits
     */
    public void add(long bytes) {
      loose += bytes;
      if (loose >= stepBytes) {
        long all = loose;
        loose = 0;
        take(all);
      }
    }

    /**
     * Counts bytes immediately. They stay counted even if the budget is exceeded.
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
     * Stops work for a client that has disconnected.
     *
     * @throws Exceeded if the share is closed because the client no longer waits
     */
    public void requireOpen() {
      if (isClosed()) {
        throw new Exceeded(Refusal.TOO_MANY_REQUESTS);
      }
    }

    /** True after the owner released everything: the response is sent, or no longer wanted. */
    public synchronized boolean isClosed() {
      return closed;
    }

    /** True if the budget is used up for the holder, or if the share is closed. */
    public synchronized boolean isExceeded() {
      return closed || holder.isExceeded();
    }

    /** True if more responses of this stream must wait, or if the share is closed. */
    public synchronized boolean isHeldBack() {
      return closed || holder.isHeldBack();
    }

    /**
     * Counts bytes that a read is about to use, if they fit. A read of more than a quarter of the
     * budget counts as a quarter.
     *
     * @return bytes to pass to {@link #release} once the result counts in another way; 0 if they do
     *     not fit, or if the share is closed
     */
    public synchronized long reserve(long bytes) {
      long counted = Math.min(bytes, Math.max(1, maxBytes / 4));
      if (closed) {
        return 0;
      }
      change(counted);
      if (holder.isExceeded()) {
        change(-counted);
        refused.incrementAndGet();
        return 0;
      }
      reserved += counted;
      return counted;
    }

    /** Ends a reservation. */
    public synchronized void release(long counted) {
      if (!closed) {
        reserved -= counted;
        change(-counted);
      }
    }

    /**
     * Sets the bytes besides those of {@link #reserve}, {@link #hand} and {@link #encoded}. Never
     * refused.
     */
    public synchronized void shrinkTo(long bytes) {
      loose = 0;
      if (!closed) {
        change(bytes - (mine - reserved - handed - inTransit));
      }
    }

    /**
     * Sets the bytes of the responses that were passed to the connection last. Never refused.
     *
     * @param bytes 0 when the connection can take more
     */
    public synchronized void hand(long bytes) {
      if (!closed) {
        changeUnsent(bytes - handed);
        handed = bytes;
      }
    }

    /** From now on {@link #sent} learns of all bytes that the connection sends for this call. */
    public synchronized void track() {
      tracked = true;
    }

    /**
     * Counts a response that is encoded for the connection, until {@link #sent}. Never refused; has
     * no effect if the bytes that are sent cannot be seen.
     */
    public synchronized void encoded(long bytes) {
      if (!closed && tracked) {
        inTransit += bytes;
        changeUnsent(bytes);
      }
    }

    /** The connection sent bytes of this call. */
    public synchronized void sent(long bytes) {
      if (!closed && inTransit > 0) {
        long less = Math.min(bytes, inTransit);
        inTransit -= less;
        changeUnsent(-less);
      }
    }

    private void changeUnsent(long bytes) {
      change(bytes);
      holder.unsent.addAndGet(bytes);
    }

    private void change(long bytes) {
      mine += bytes;
      holder.add(bytes);
    }

    /** Releases everything. May be called from any thread, any number of times. */
    @Override
    public synchronized void close() {
      if (!closed) {
        changeUnsent(-handed - inTransit);
        change(-mine);
        closed = true;
      }
    }
  }
}
