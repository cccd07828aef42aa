package io.troupe.grpc.auth;

import io.troupe.auth.AuthState;
import io.troupe.model.Requester;
import io.troupe.protocol.AuthListener;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a user shows after a login instead of the password (A5, A6). Thread-safe. */
public sealed interface Tokens extends AuthListener permits SimpleTokens, JwtTokens, NoTokens {

  /**
   * Whose token it is.
   *
   * @param state users as they are now
   * @return null if it proves nothing, or nothing any more
   */
  Requester.@Nullable User find(String token, AuthState state);

  /**
   * True if a token that is not known may become known by itself.
   *
   * @param applied index of the last entry that is applied here
   */
  boolean mayStillCome(String token, long applied);

  /**
   * Tokens of the kind that the setting {@code auth-token} names: {@code simple}, {@code
   * jwt,sign-method=...,priv-key=...,pub-key=...,ttl=...}, or nothing for none at all.
   *
   * @param simpleTtl how long an unused simple token is good
   * @param mostSimple simple tokens that are kept, 1 or more
   * @throws IllegalArgumentException with etcd's text if the setting is wrong
   */
  static Tokens of(String setting, Duration simpleTtl, int mostSimple, Clock clock) {
    if (setting.isEmpty()) {
      return NoTokens.INSTANCE;
    }
    if (setting.equals("simple")) {
      return new SimpleTokens(simpleTtl, System::nanoTime, mostSimple);
    }
    if (setting.equals("jwt") || setting.startsWith("jwt,")) {
      return new JwtTokens(JwtSettings.parse(setting.substring("jwt".length())), clock);
    }
    throw new IllegalArgumentException(JwtSettings.INVALID_OPTIONS);
  }
}
