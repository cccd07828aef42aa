package io.troupe.server.auth;

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
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that the log creates (A5): random letters, a dot, and the index of the entry that created
 * the token. They are held in memory only. Each has a time to live that restarts on each use,
 * separately on each member.
 *
 * <p>The number of tokens is bounded. At the bound, a login evicts the least recently used tokens
 * of the user that has the most tokens. Each user therefore keeps its share, the bound divided by
 * the number of users with tokens, regardless of the logins of other users.
 */
public final class SimpleTokens implements Tokens {
  /** Memory per token if each user has one: its text, its time, and two table entries. */
  public static final int TOKEN_BYTES = 320;

  private static final int LETTERS = 16;
  private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  /** Minimum number of logins between two searches for expired tokens. */
  private static final int SWEEP_LOGINS = 512;

  /** A user that has tokens. */
  private static final class Owner {
    private final String name;

    /** By token; a subset of {@link SimpleTokens#logins}. */
    private final Map<String, Login> logins = new ConcurrentHashMap<>();

    Owner(String name) {
      this.name = name;
    }
  }

  private static final class Login {
    private final Owner owner;
    private volatile long endNanos;

    Login(Owner owner, long endNanos) {
      this.owner = owner;
      this.endNanos = endNanos;
    }
  }

  /** A login with its expiry when eviction considered it; the expiry of a login in use changes. */
  private record Candidate(String token, Login login, long endNanos) {}

  private final SecureRandom random = new SecureRandom();
  private final Map<String, Login> logins = new ConcurrentHashMap<>();

  /** By name; only the apply actor changes it. */
  private final Map<String, Owner> owners = new ConcurrentHashMap<>();

  private final LongAdder evicted = new LongAdder();
  private final long ttlNanos;
  private final LongSupplier nanoTime;
  private final int most;
  private int untilSweep = SWEEP_LOGINS;

  /**
   * Starts without tokens.
   *
   * @param most maximum number of tokens, 1 or more
   */
  SimpleTokens(Duration ttl, LongSupplier nanoTime, int most) {
    this.ttlNanos = ttl.toNanos();
    this.nanoTime = nanoTime;
    this.most = most;
  }

  /** Generates the first part of a new token. Unlike etcd's, it cannot be guessed. */
  public String newPrefix() {
    StringBuilder out = new StringBuilder(LETTERS);
    for (int i = 0; i < LETTERS; i++) {
      out.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return out.toString();
  }

  /** The user acts at the current auth revision (A7). */
  @Override
  public Requester.@Nullable User find(String token, AuthState state) {
    Login login = logins.get(token);
    if (login == null) {
      return null;
    }
    long now = nanoTime.getAsLong();
    if (login.endNanos - now <= 0) {
      end(token, login);
      return null;
    }
    login.endNanos = now + ttlNanos;
    return new Requester.User(login.owner.name, state.revision());
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

  /** Clears all logins, because unreported changes may have invalidated any of them. */
  @Override
  public void opened() {
    clear();
  }

  @Override
  public void applied(Operation.Auth operation, Result result) {
    if (operation instanceof Operation.Authenticate authenticate) {
      add(authenticate.user(), ((Result.Authenticated) result).token());
    } else if (operation instanceof Operation.UserDelete delete) {
      end(delete.user());
    } else if (operation instanceof Operation.UserChangePassword change) {
      end(change.user());
    } else if (operation instanceof Operation.AuthDisable) {
      clear();
    }
  }

  private void add(String user, String token) {
    sweep();
    Owner owner = owners.computeIfAbsent(user, Owner::new);
    while (logins.size() >= most) {
      evict(owner);
    }
    Login login = new Login(owner, nanoTime.getAsLong() + ttlNanos);
    owner.logins.put(token, login);
    logins.put(token, login);
  }

  private void clear() {
    logins.clear();
    owners.clear();
  }

  private void end(String user) {
    Owner owner = owners.remove(user);
    if (owner != null) {
      owner.logins.keySet().forEach(logins::remove);
    }
  }

  private boolean end(String token, Login login) {
    login.owner.logins.remove(token);
    return logins.remove(token, login);
  }

  /**
   * Removes expired tokens. Only the apply actor calls this. Each login pays for checking a few
   * tokens.
   */
  private void sweep() {
    if (--untilSweep > 0) {
      return;
    }
    long now = nanoTime.getAsLong();
    logins.forEach(
        (token, login) -> {
          if (login.endNanos - now <= 0) {
            end(token, login);
          }
        });
    owners.values().removeIf(owner -> owner.logins.isEmpty());
    untilSweep = Math.max(SWEEP_LOGINS, logins.size() / 2);
  }

  /**
   * Evicts tokens of the newcomer if it has its share, otherwise of the user with the most tokens.
   * Evicts several at a time, so that few logins pay for the search. Other users lose only tokens
   * above their share.
   */
  private void evict(Owner newcomer) {
    int share = most / owners.size();
    Owner loser = newcomer;
    int above = newcomer.logins.size();
    if (above < Math.max(1, share)) {
      for (Owner owner : owners.values()) {
        if (owner.logins.size() > loser.logins.size()) {
          loser = owner;
        }
      }
      above = loser.logins.size() - share;
    }
    List<Candidate> oldest = new ArrayList<>();
    long now = nanoTime.getAsLong();
    loser.logins.forEach(
        (token, login) -> oldest.add(new Candidate(token, login, login.endNanos - now)));
    oldest.sort(Comparator.comparingLong(Candidate::endNanos));
    int number = Math.min(oldest.size(), Math.max(1, Math.min(oldest.size() / 4, above)));
    for (Candidate candidate : oldest.subList(0, number)) {
      if (end(candidate.token(), candidate.login())) {
        evicted.increment();
      }
    }
  }

  /** Number of tokens, including expired ones. */
  public int size() {
    return logins.size();
  }

  /** Tokens that were evicted before their expiry because the bound was reached. */
  public long evicted() {
    return evicted.sum();
  }
}
