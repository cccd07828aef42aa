package io.troupe.server.auth;

import io.troupe.auth.AuthState;
import io.troupe.model.Requester;
import io.troupe.protocol.AuthListener;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The tokens that a user presents after a login instead of the password (A5, A6). Thread-safe. */
public sealed interface Tokens extends AuthListener permits SimpleTokens, JwtTokens, NoTokens {

  /**
   * Returns the user of a token.
   *
   * @param state the current users
   * @return null if the token is not valid, or no longer valid
   */
  Requester.@Nullable User find(String token, AuthState state);

  /**
   * True if an unknown token may become known without another request.
   *
   * @param applied index of the last entry that is applied here
   */
  boolean mayStillCome(String token, long applied);

  /**
   * Creates the tokens of the kind that the setting {@code auth-token} names: {@code simple},
   * {@code jwt,sign-method=...,priv-key=...,pub-key=...,ttl=...}, or an empty text for no tokens.
   *
   * @param simpleTtl time after which an unused simple token expires
   * @param mostSimple maximum number of simple tokens, 1 or more
   * @throws IllegalArgumentException with etcd's text if the setting is invalid
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
