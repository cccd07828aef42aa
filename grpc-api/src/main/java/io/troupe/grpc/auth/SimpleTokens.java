package io.troupe.grpc.auth;

import io.troupe.auth.AuthState;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that come with the log (A5): random letters, a dot, and the index of the entry that made
 * them known. In memory only, each with a time to live that begins anew with each use, on each
 * member by itself.
 */
public final class SimpleTokens implements Tokens {
  /** More logins than that are not kept: those unused for longest end first. */
  static final int MOST = 100_000;

  private static final int LETTERS = 16;
  private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  private static final int FIRST_SWEEP = 1024;

  private static final class Login {
    private final String user;
    private volatile long endNanos;

    Login(String user, long endNanos) {
      this.user = user;
      this.endNanos = endNanos;
    }
  }

  private final SecureRandom random = new SecureRandom();
  private final Map<String, Login> logins = new ConcurrentHashMap<>();
  private final long ttlNanos;
  private final LongSupplier nanoTime;
  private final int most;
  private int nextSweep = FIRST_SWEEP;

  SimpleTokens(Duration ttl, LongSupplier nanoTime) {
    this(ttl, nanoTime, MOST);
  }

  SimpleTokens(Duration ttl, LongSupplier nanoTime, int most) {
    this.ttlNanos = ttl.toNanos();
    this.nanoTime = nanoTime;
    this.most = most;
  }

  /** First part of a new token. Unlike etcd's it cannot be guessed. */
  public String newPrefix() {
    StringBuilder out = new StringBuilder(LETTERS);
    for (int i = 0; i < LETTERS; i++) {
      out.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return out.toString();
  }

  /** The user is taken to act at the current auth revision (A7). */
  @Override
  public Requester.@Nullable User find(String token, AuthState state) {
    Login login = logins.get(token);
    if (login == null) {
      return null;
    }
    long now = nanoTime.getAsLong();
    if (login.endNanos - now <= 0) {
      logins.remove(token, login);
      return null;
    }
    login.endNanos = now + ttlNanos;
    return new Requester.User(login.user, state.revision());
  }

  @Override
  public boolean mayStillCome(String token, long applied) {
    if (token.length() <= LETTERS + 1
        || token.length() > LETTERS + 1 + 19
        || token.charAt(LETTERS) != '.') {
      return false;
    }
    for (int i = LETTERS + 1; i < token.length(); i++) {
      if (token.charAt(i) < '0' || token.charAt(i) > '9') {
        return false;
      }
    }
    return Long.compareUnsigned(
            Long.parseUnsignedLong(token, LETTERS + 1, token.length(), 10), applied)
        > 0;
  }

  /** Changes that nobody told may have ended any login. */
  @Override
  public void opened() {
    logins.clear();
  }

  @Override
  public void applied(Operation.Auth operation, Result result) {
    if (operation instanceof Operation.Authenticate authenticate) {
      sweep();
      logins.put(
          ((Result.Authenticated) result).token(),
          new Login(authenticate.user(), nanoTime.getAsLong() + ttlNanos));
    } else if (operation instanceof Operation.UserDelete delete) {
      end(delete.user());
    } else if (operation instanceof Operation.UserChangePassword change) {
      end(change.user());
    } else if (operation instanceof Operation.AuthDisable) {
      logins.clear();
    }
  }

  private void end(String user) {
    logins.values().removeIf(login -> login.user.equals(user));
  }

  /** One caller: the apply room. Each login pays for looking at a few others. */
  private void sweep() {
    if (logins.size() < Math.min(nextSweep, most)) {
      return;
    }
    long now = nanoTime.getAsLong();
    logins.values().removeIf(login -> login.endNanos - now <= 0);
    if (logins.size() >= most) {
      List<Map.Entry<String, Login>> oldest = new ArrayList<>(logins.entrySet());
      oldest.sort(Comparator.comparingLong(login -> login.getValue().endNanos - now));
      oldest.subList(0, Math.max(1, most / 4)).forEach(login -> logins.remove(login.getKey()));
    }
    nextSweep = Math.max(FIRST_SWEEP, 2 * logins.size());
  }

  /** Logins that are kept, ended ones among them. */
  int size() {
    return logins.size();
  }
}
