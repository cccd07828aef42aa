package io.troupe.grpc.auth;

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
 * Hashes and checks passwords with bcrypt, on threads of its own: one takes tens of milliseconds
 * (A4, A8). The jobs that wait for a thread are bounded; a job whose client has left is dropped: at
 * its turn, or earlier if another job needs its place. A password that fitted once is known again
 * without bcrypt; what is kept for that is a digest under a key that this process alone has.
 * Thread-safe.
 */
public final class Passwords {
  /** Longest password, in bytes of UTF-8: bcrypt would not check more. */
  public static final int LONGEST = 72;

  /** Jobs that may wait for a thread. */
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
   * Makes the threads; they end when there is nothing to do.
   *
   * @param cost bcrypt's, 4..31: each step doubles the time
   * @param atOnce most that are hashed side by side, 1 or more
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
   * Refuses a password that is too long (A8).
   *
   * @throws GrpcException with Go's text
   */
  public static void checkLength(String password) {
    if (utf8(password).length > LONGEST) {
      throw new GrpcException(
          GrpcStatus.UNKNOWN, "bcrypt: password length exceeds " + LONGEST + " bytes");
    }
  }

  /**
   * A hash as requests bring it (A9). It need not be one of bcrypt's: nothing fits another.
   *
   * @param base64 with its padding; ends of lines do not count
   * @return each byte as one character
   * @throws IllegalArgumentException if it is no base64
   */
  public static String decoded(String base64) {
    String bare = base64.replace("\r", "").replace("\n", "");
    if (bare.length() % 4 != 0) {
      throw new IllegalArgumentException("no padding");
    }
    return new String(Base64.getDecoder().decode(bare), StandardCharsets.ISO_8859_1);
  }

  /** How etcd refuses a login without a password (A4), and a hash that cannot be read (A9). */
  public static GrpcException noPasswordUser() {
    return new GrpcException(
        GrpcStatus.UNKNOWN, "auth: authentication failed, password was given for no password user");
  }

  /** Jobs that wait for a thread, those of clients that have left among them. */
  public int waiting() {
    return threads.getQueue().size();
  }

  /** Jobs that were dropped because their client had left. */
  public long dropped() {
    return dropped.sum();
  }

  /** Jobs that were refused because too many waited. */
  public long refused() {
    return refused.sum();
  }

  /**
   * bcrypt's text of a password.
   *
   * @param abandoned true once the client does not wait any more; from any thread
   * @return fails with CANCELED if the client left before the work began
   * @throws RefusedException TOO_MANY_REQUESTS if too many jobs wait
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
   * Whether a password fits a hash. An empty hash fits none (A9).
   *
   * @param abandoned true once the client does not wait any more; from any thread
   * @return fails with CANCELED if the client left before the work began
   * @throws RefusedException TOO_MANY_REQUESTS if too many jobs wait
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

  /** Not the common pool, which must not be kept busy, and on few cores has no threads. */
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

  /** Makes room: a client that leaves right after each login must not keep others out. */
  private void dropAbandoned() {
    for (Runnable waiting : threads.getQueue()) {
      if (((Job<?>) waiting).isAbandoned() && threads.getQueue().remove(waiting)) {
        waiting.run();
      }
    }
  }

  /** Work for one client. */
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
