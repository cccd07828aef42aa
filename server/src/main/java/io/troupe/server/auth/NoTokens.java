package io.troupe.server.auth;

import io.troupe.auth.AuthState;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import org.jspecify.annotations.Nullable;

/** Issues no tokens and accepts none (A6, {@code auth-token = ""}). */
public enum NoTokens implements Tokens {
  /** The only instance. */
  INSTANCE;

  @Override
  public Requester.@Nullable User find(String token, AuthState state) {
    return null;
  }

  @Override
  public boolean mayStillCome(String token, long applied) {
    return false;
  }

  @Override
  public void opened() {}

  @Override
  public void applied(Operation.Auth operation, Result result) {}
}
