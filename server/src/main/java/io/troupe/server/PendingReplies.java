package io.troupe.server;

import io.troupe.protocol.ReplyTo;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.pekko.actor.typed.RecipientRef;
import org.apache.pekko.actor.typed.Scheduler;
import scala.concurrent.ExecutionContext;

/**
 * Sends messages to actors and returns their replies (decision 0261). A reply that arrived leaves
 * nothing behind, while a timer of Pekko's scheduler stays in memory until it is due: at 100,000
 * requests per second and a timeout of seven seconds that is most of a million objects, which every
 * collection of garbage copies. The dependents of a reply run on the thread that delivers it; on
 * Pekko's Java ask they run on {@link CompletableFuture}'s default pool, which with two cores or
 * fewer is a new thread for each.
 *
 * <p>Each client call waits for at most one reply, so the limits of calls bound their number.
 * Thread-safe.
 */
public final class PendingReplies {
  /** A timeout is noticed at most this late. */
  static final Duration CHECK_EVERY = Duration.ofMillis(50);

  private final LongSupplier nanoTime;
  private final Set<PendingReply<?>> waiting = ConcurrentHashMap.newKeySet();

  /**
   * Starts without replies.
   *
   * @param scheduler runs the timeouts, and with them the dependents of replies that did not arrive
   */
  public PendingReplies(Scheduler scheduler) {
    this(scheduler, System::nanoTime);
  }

  /** With another clock than {@link System#nanoTime}. */
  PendingReplies(Scheduler scheduler, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    scheduler.scheduleWithFixedDelay(
        CHECK_EVERY, CHECK_EVERY, this::check, ExecutionContext.parasitic$.MODULE$);
  }

  /**
   * Sends the message that {@code message} creates.
   *
   * @param message receives the address of the reply
   * @return the reply; fails with a TimeoutException when none arrives in time, although the actor
   *     may still execute the message. If {@code timeout} is not positive, the message is not sent
   */
  <M, R> CompletableFuture<R> ask(
      RecipientRef<M> actor, Function<ReplyTo<R>, M> message, Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      return CompletableFuture.failedFuture(new TimeoutException("no time left to ask " + actor));
    }
    PendingReply<R> reply = new PendingReply<>(actor, timeout);
    waiting.add(reply);
    actor.tell(message.apply(reply));
    return reply;
  }

  /** Number of replies that have neither arrived nor timed out. */
  public int count() {
    return waiting.size();
  }

  private void check() {
    long now = nanoTime.getAsLong();
    for (PendingReply<?> reply : waiting) {
      if (reply.isLate(now)) {
        reply.timeOut();
      }
    }
  }

  private final class PendingReply<R> extends CompletableFuture<R> implements ReplyTo<R> {
    private final RecipientRef<?> actor;
    private final Duration timeout;
    private final long startNanos = nanoTime.getAsLong();

    PendingReply(RecipientRef<?> actor, Duration timeout) {
      this.actor = actor;
      this.timeout = timeout;
    }

    @Override
    public void tell(R reply) {
      waiting.remove(this);
      complete(reply);
    }

    boolean isLate(long nowNanos) {
      return nowNanos - startNanos >= timeout.toNanos();
    }

    void timeOut() {
      waiting.remove(this);
      completeExceptionally(new TimeoutException("no reply of " + actor + " within " + timeout));
    }
  }
}
