package io.troupe.grpc.auth;

import io.troupe.auth.AuthState;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import org.jspecify.annotations.Nullable;

/** No login gives a token and no token is good (A6, {@code auth-token = ""}). */
public enum NoTokens implements Tokens {
  /** The only one. */
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
