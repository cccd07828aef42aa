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
 * Checks that a certificate is valid for the address that it comes from (TL2). Callers never wait
 * for a resolver: separate threads look up names. The number of concurrent lookups and the time of
 * each are bounded; further connections from the same address with the same names share a lookup in
 * progress. Checks without a lookup complete immediately. Thread-safe.
 */
public final class AddressChecks {
  /**
   * Maximum number of lookup threads: a resolver that does not respond may block a thread for any
   * time.
   */
  static final int AT_ONCE = 8;

  static final int WAITING = 64;

  /**
   * Longer than the usual 5 s after which a resolver asks the next name server, and shorter than a
   * handshake may take (TL4).
   */
  static final Duration LIMIT = Duration.ofSeconds(8);

  private static final Duration THREADS_STAY = Duration.ofSeconds(30);

  private record Lookup(AlternativeNames names, InetAddress remote) {}

  private final NameLookup lookup;
  private final Duration limit;
  private final ThreadPoolExecutor threads;
  private final ConcurrentMap<Lookup, PendingLookup> pending = new ConcurrentHashMap<>();

  /** Creates checks that use the resolver of this machine. */
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
   * Checks the certificate that the other side presented, if any. Never waits.
   *
   * @param session of a completed handshake
   * @param remote the other end of its connection
   * @return fails with a {@link CertificateException} if it is for another host, or if the lookup
   *     takes too long; may complete on a lookup thread
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
    Lookup key = new Lookup(names, remote);
    PendingLookup own = new PendingLookup(key);
    if (names.areFor(remote) || names.dnsNames().isEmpty()) {
      own.run();
      return own.completion();
    }
    PendingLookup other = pending.putIfAbsent(key, own);
    if (other != null) {
      return other.completion();
    }
    own.begin();
    return own.completion();
  }

  /** One lookup, and all checks that wait for its result. */
  private final class PendingLookup implements Runnable, NameLookup {
    private final Lookup key;
    private final CompletableFuture<Void> result = new CompletableFuture<>();

    PendingLookup(Lookup key) {
      this.key = key;
    }

    void begin() {
      try {
        threads.execute(this);
      } catch (RejectedExecutionException full) {
        pending.remove(key, this);
        result.completeExceptionally(
            new CertificateException(
                "too many concurrent name lookups: " + key.names().dnsNames()));
        return;
      }
      CompletionStage<Void> timed = result.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
      timed.whenComplete(
          (done, failure) -> {
            // A lookup that is running stays in the map until the resolver responds.
            if (failure instanceof TimeoutException && threads.remove(this)) {
              pending.remove(key, this);
            }
          });
    }

    @Override
    public void run() {
      try {
        key.names().check(key.remote(), this);
        result.complete(null);
      } catch (CertificateException | RuntimeException refused) {
        result.completeExceptionally(refused);
      } finally {
        pending.remove(key, this);
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

    /**
     * Stops the lookups of a check that has timed out: a certificate may have any number of names.
     */
    private void requireTime(String name) throws UnknownHostException {
      if (result.isDone()) {
        throw new UnknownHostException(name + ": the check has timed out");
      }
    }

    CompletionStage<Void> completion() {
      return result.handle(
          (done, failure) -> {
            if (failure instanceof TimeoutException) {
              throw new CompletionException(
                  new CertificateException(
                      "name lookup timed out after "
                          + limit.toMillis()
                          + " ms, cannot check whether "
                          + key.remote().getHostAddress()
                          + " is one of "
                          + key.names().dnsNames()));
            }
            if (failure != null) {
              throw new CompletionException(failure);
            }
            return null;
          });
    }
  }
}
