package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLSession;

/**
 * Checks where certificates come from (TL2), without a wait for a resolver: names are looked up on
 * threads that do nothing else. How many lookups there are at once is bounded, and so is the time
 * of each; one that hangs is not repeated by the connections that come after it from the same
 * address with the same names. What needs no resolver is decided at once. Thread-safe.
 */
public final class AddressChecks {
  /** A resolver that does not answer keeps a thread for as long as it likes. */
  static final int AT_ONCE = 8;

  static final int WAITING = 64;

  /**
   * Longer than the usual 5 s after which a resolver asks the next name server, and shorter than a
   * handshake may take (TL4).
   */
  static final Duration LIMIT = Duration.ofSeconds(8);

  private static final Duration THREADS_STAY = Duration.ofSeconds(30);

  private record Question(AlternativeNames names, InetAddress remote) {}

  private final NameLookup lookup;
  private final Duration limit;
  private final ThreadPoolExecutor threads;
  private final ConcurrentMap<Question, Asking> asked = new ConcurrentHashMap<>();

  /** Checks that ask the resolver of this machine. */
  public AddressChecks() {
    this(new SystemLookup(), LIMIT);
  }

  AddressChecks(NameLookup lookup, Duration limit) {
    this.lookup = lookup;
    this.limit = limit;
    this.threads =
        new ThreadPoolExecutor(
            AT_ONCE,
            AT_ONCE,
            THREADS_STAY.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(WAITING),
            task -> {
              Thread thread = new Thread(task, "certificate-names");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Checks the certificate that the other side showed; there is nothing to check if it showed none.
   * Never waits.
   *
   * @param session of a handshake that is over
   * @param remote the other end of its connection
   * @return fails with a {@link CertificateException} if it is for another host, or if that is not
   *     known in time; perhaps completed by a thread of the resolver's
   */
  public CompletionStage<Void> check(SSLSession session, InetAddress remote) {
    X509Certificate shown = CertificateNames.shown(session);
    if (shown == null) {
      return CompletableFuture.completedFuture(null);
    }
    try {
      return check(AlternativeNames.of(shown), remote);
    } catch (CertificateException unreadable) {
      return CompletableFuture.failedFuture(unreadable);
    }
  }

  CompletionStage<Void> check(AlternativeNames names, InetAddress remote) {
    Question question = new Question(names, remote);
    Asking mine = new Asking(question);
    if (names.areFor(remote) || names.dnsNames().isEmpty()) {
      mine.run();
      return mine.answer();
    }
    Asking other = asked.putIfAbsent(question, mine);
    if (other != null) {
      return other.answer();
    }
    mine.begin();
    return mine.answer();
  }

  /** One question, and all who wait for its answer. */
  private final class Asking implements Runnable, NameLookup {
    private final Question question;
    private final CompletableFuture<Void> result = new CompletableFuture<>();

    Asking(Question question) {
      this.question = question;
    }

    void begin() {
      try {
        threads.execute(this);
      } catch (RejectedExecutionException full) {
        asked.remove(question, this);
        result.completeExceptionally(
            new CertificateException(
                "too many lookups of names at once: " + question.names().dnsNames()));
        return;
      }
      CompletionStage<Void> timed = result.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
      timed.whenComplete(
          (done, failure) -> {
            // One whose turn has come stays known until its resolver answers.
            if (failure instanceof TimeoutException && threads.remove(this)) {
              asked.remove(question, this);
            }
          });
    }

    @Override
    public void run() {
      try {
        question.names().check(question.remote(), this);
        result.complete(null);
      } catch (CertificateException | RuntimeException refused) {
        result.completeExceptionally(refused);
      } finally {
        asked.remove(question, this);
      }
    }

    @Override
    public List<String> names(InetAddress address) throws UnknownHostException {
      requireTime(address.getHostAddress());
      return lookup.names(address);
    }

    @Override
    public List<InetAddress> addresses(String name) throws UnknownHostException {
      requireTime(name);
      return lookup.addresses(name);
    }

    /** A certificate may have any number of names. */
    private void requireTime(String name) throws UnknownHostException {
      if (result.isDone()) {
        throw new UnknownHostException(name + ": the connection is closed");
      }
    }

    CompletionStage<Void> answer() {
      return result.handle(
          (done, failure) -> {
            if (failure instanceof TimeoutException) {
              throw new CompletionException(
                  new CertificateException(
                      "no answer within "
                          + limit.toMillis()
                          + " ms to whether "
                          + question.remote().getHostAddress()
                          + " is one of "
                          + question.names().dnsNames()));
            }
            if (failure != null) {
              throw new CompletionException(failure);
            }
            return null;
          });
    }
  }
}
