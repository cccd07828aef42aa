package io.troupe.testkit;

import io.troupe.actors.member.MemberRemovedException;
import io.troupe.node.RunningNode;
import io.troupe.node.config.ConfigLoader;
import io.troupe.node.process.StartException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One member of a {@link TroupeServer}, running or stopped. Thread-safe. */
final class Member {
  private static final Logger LOG = LoggerFactory.getLogger(Member.class);

  private final String name;
  private final Map<String, Object> settings;
  private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();

  /** Guarded by this. */
  private @Nullable RunningNode node;

  Member(String name, Map<String, Object> settings) {
    this.name = name;
    this.settings = settings;
  }

  String name() {
    return name;
  }

  /**
   * Starts the member, which must be stopped, and waits until it is ready.
   *
   * @throws RuntimeException with the reason if it cannot start; then it is stopped
   * @throws InterruptedException if interrupted; then it is stopped
   */
  void start() throws InterruptedException {
    broken.set(null);
    RunningNode started = RunningNode.start(ConfigLoader.embedded(settings), this::broke);
    synchronized (this) {
      node = started;
    }
    boolean ready = false;
    try {
      // A failure before the assignment found no member to stop.
      if (broken.get() == null) {
        started.awaitReady();
        ready = true;
      }
    } catch (StartException closed) {
      if (broken.get() == null) {
        throw closed;
      }
    } finally {
      if (!ready) {
        stop();
      }
    }
    Throwable failure = broken.get();
    if (failure != null) {
      throw new IllegalStateException(name + " failed while it started: " + failure, failure);
    }
  }

  /**
   * Stops the member if it runs; it keeps its data. Returns when nothing of it is left, also if the
   * caller is interrupted: files must not be closed while actors use them.
   */
  synchronized void stop() {
    RunningNode running = node;
    node = null;
    if (running == null) {
      return;
    }
    try {
      CompletableFuture.runAsync(
              broken.get() == null ? running::close : running::abort,
              work -> new Thread(work, "troupe-testkit-stop").start())
          .join();
    } catch (CompletionException e) {
      throw new TroupeServerException("cannot stop " + name + ": " + e.getCause(), e);
    }
  }

  /** Returns why the member stopped without a call of {@link #stop}; null if it did not. */
  @Nullable Throwable failure() {
    Throwable failure = broken.get();
    return failure instanceof MemberRemovedException ? null : failure;
  }

  /** Returns true if the cluster removed the member: it cannot be started again. */
  boolean isRemoved() {
    return broken.get() instanceof MemberRemovedException;
  }

  /**
   * The member cannot continue. Its own process would exit. Here another thread stops it, because
   * this may be a thread of the member.
   */
  void broke(Throwable failure) {
    if (!broken.compareAndSet(null, failure)) {
      return;
    }
    if (failure instanceof MemberRemovedException) {
      LOG.info("member was removed from the cluster and stops name={}", name);
    } else {
      LOG.error(
          "member failed and stops, the next call of TroupeServer throws this failure name={}",
          name,
          failure);
    }
    new Thread(this::stopFailed, "troupe-testkit-failed").start();
  }

  private void stopFailed() {
    try {
      stop();
    } catch (TroupeServerException e) {
      LOG.error("cannot stop failed member, it may keep threads and files name={}", name, e);
    }
  }
}
