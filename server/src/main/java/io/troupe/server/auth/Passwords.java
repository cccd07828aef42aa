package io.troupe.server.auth;

import at.favre.lib.crypto.bcrypt.BCrypt;
import at.favre.lib.crypto.bcrypt.LongPasswordStrategies;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Hashes and checks passwords with bcrypt on dedicated threads, because one hash takes tens of
 * milliseconds (A4, A8). The queue of jobs is bounded. A job whose client has disconnected is
 * dropped at its turn, or earlier if another job needs its slot. A password that matched once is
 * recognized again without bcrypt; for this, a digest is kept under a key that only this process
 * has. Thread-safe.
 */
public final class Passwords {
  /** Longest password, in bytes of UTF-8: bcrypt ignores the rest. */
  public static final int LONGEST = 72;

  /** Maximum number of jobs in the queue. */
  static final int WAITING = 256;

  private static final int REMEMBERED = 4096;
  private static final String HMAC = "HmacSHA256";

  private final int cost;
  private final ThreadPoolExecutor threads;
  private final byte[] salt = new byte[32];
  private final LongAdder dropped = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final Map<Bytes, Boolean> fitted =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Bytes, Boolean> eldest) {
              return size() > REMEMBERED;
            }
          });

  /**
   * Creates the thread pool; idle threads stop.
   *
   * @param cost bcrypt cost, 4..31; each step doubles the time
   * @param atOnce maximum number of concurrent hashes, 1 or more
   */
  public Passwords(int cost, int atOnce) {
    this.cost = cost;
    this.threads =
        new ThreadPoolExecutor(
            atOnce,
            atOnce,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING),
            task -> {
              Thread thread = new Thread(task, "passwords");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    new SecureRandom().nextBytes(salt);
  }

  /**
   * Rejects a password that is too long (A8).
   *
   * @throws GrpcException with the text of Go's bcrypt
   */
  public static void checkLength(String password) {
    if (utf8(password).length > LONGEST) {
      throw new GrpcException(
          GrpcStatus.UNKNOWN, "bcrypt: password length exceeds " + LONGEST + " bytes");
    }
  }

  /**
   * Decodes a hash as requests carry it (A9). It need not be a bcrypt hash; any other hash matches
   * no password.
   *
   * @param base64 with padding; line ends are ignored
   * @return each byte as one character
   * @throws IllegalArgumentException if the text is not base64
   */
  public static String decoded(String base64) {
    String bare = base64.replace("\r", "").replace("\n", "");
    if (bare.length() % 4 != 0) {
      throw new IllegalArgumentException("no padding");
    }
    return new String(Base64.getDecoder().decode(bare), StandardCharsets.ISO_8859_1);
  }

  /**
   * The error of etcd for a login without a password (A4), and for a hash that cannot be decoded
   * (A9).
   */
  public static GrpcException noPasswordUser() {
    return new GrpcException(
        GrpcStatus.UNKNOWN, "auth: authentication failed, password was given for no password user");
  }

  /** Number of queued jobs, including those of disconnected clients. */
  public int waiting() {
    return threads.getQueue().size();
  }

  /** Jobs that were dropped because their client had disconnected. */
  public long dropped() {
    return dropped.sum();
  }

  /** Jobs that were rejected because the queue was full. */
  public long refused() {
    return refused.sum();
  }

  /**
   * Hashes a password with bcrypt.
   *
   * @param abandoned true once the client no longer waits; called on any thread
   * @return fails with CANCELED if the client disconnected before the job started
   * @throws RefusedException TOO_MANY_REQUESTS if the queue is full
   */
  public CompletionStage<String> hash(String password, BooleanSupplier abandoned) {
    checkLength(password);
    return run(
        abandoned,
        () ->
            new String(
                BCrypt.with(
                        BCrypt.Version.VERSION_2A,
                        new SecureRandom(),
                        LongPasswordStrategies.strict(BCrypt.Version.VERSION_2A))
                    .hash(cost, utf8(password)),
                StandardCharsets.US_ASCII));
  }

  /**
   * Checks a password against a hash. An empty hash matches no password (A9).
   *
   * @param abandoned true once the client no longer waits; called on any thread
   * @return fails with CANCELED if the client disconnected before the job started
   * @throws RefusedException TOO_MANY_REQUESTS if the queue is full
   */
  public CompletionStage<Boolean> fits(
      String user, String hash, String password, BooleanSupplier abandoned) {
    if (hash.isEmpty() || utf8(password).length > LONGEST) {
      return CompletableFuture.completedFuture(false);
    }
    Bytes known = digest(user, hash, password);
    if (fitted.get(known) != null) {
      return CompletableFuture.completedFuture(true);
    }
    return run(
        abandoned,
        () -> {
          boolean fits =
              BCrypt.verifyer()
                  .verify(utf8(password), hash.getBytes(StandardCharsets.ISO_8859_1))
                  .verified;
          if (fits) {
            fitted.put(known, true);
          }
          return fits;
        });
  }

  /** Does not use the common pool: bcrypt would occupy it, and with few cores it has no threads. */
  private <T> CompletionStage<T> run(BooleanSupplier abandoned, Supplier<T> work) {
    Job<T> job = new Job<>(abandoned, work);
    if (!started(job)) {
      dropAbandoned();
      if (!started(job)) {
        refused.increment();
        throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
      }
    }
    return job.outcome;
  }

  private boolean started(Job<?> job) {
    try {
      threads.execute(job);
      return true;
    } catch (RejectedExecutionException full) {
      return false;
    }
  }

  /**
   * Frees queue slots: a client that disconnects right after each login must not block other
   * clients.
   */
  private void dropAbandoned() {
    for (Runnable waiting : threads.getQueue()) {
      if (((Job<?>) waiting).isAbandoned() && threads.getQueue().remove(waiting)) {
        waiting.run();
      }
    }
  }

  /** A job of one client. */
  private final class Job<T> implements Runnable {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final BooleanSupplier abandoned;
    private final Supplier<T> work;

    Job(BooleanSupplier abandoned, Supplier<T> work) {
      this.abandoned = abandoned;
      this.work = work;
    }

    boolean isAbandoned() {
      return abandoned.getAsBoolean();
    }

    @Override
    public void run() {
      try {
        if (isAbandoned()) {
          dropped.increment();
          outcome.completeExceptionally(new GrpcException(GrpcStatus.CANCELED, "context canceled"));
          return;
        }
        outcome.complete(work.get());
      } catch (RuntimeException | Error failure) {
        outcome.completeExceptionally(failure);
      }
    }
  }

  private Bytes digest(String user, String hash, String password) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(salt, HMAC));
      for (String part : new String[] {user, hash, password}) {
        byte[] bytes = utf8(part);
        mac.update(
            new byte[] {
              (byte) (bytes.length >>> 24),
              (byte) (bytes.length >>> 16),
              (byte) (bytes.length >>> 8),
              (byte) bytes.length
            });
        mac.update(bytes);
      }
      return Bytes.wrap(mac.doFinal());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + HMAC, e);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
