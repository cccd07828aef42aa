package io.troupe.server;

import io.troupe.auth.AuthState;
import io.troupe.grpc.api.AuthenticateResponse;
import io.troupe.model.AuthUser;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.RefusedException;
import io.troupe.server.auth.JwtTokens;
import io.troupe.server.auth.Passwords;
import io.troupe.server.auth.SimpleTokens;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * A login (A4): a linearizable read of the user, a bcrypt check, and a token. A simple token is
 * published to all members by an entry. The entry is refused if users changed after the read; then
 * the login restarts.
 */
final class Authentication {
  private final Member member;
  private final ReadIndexBatcher reads;
  private final Proposer proposer;
  private final Logins logins;

  Authentication(Member member, ReadIndexBatcher reads, Proposer proposer, Logins logins) {
    this.member = member;
    this.reads = reads;
    this.proposer = proposer;
    this.logins = logins;
  }

  /** The stored hash and its revision. */
  private record Known(String hash, long authRevision) {}

  /**
   * Checks the password and returns a token.
   *
   * @param call the login restarts until its deadline
   */
  CompletionStage<AuthenticateResponse> token(String user, String password, Call call) {
    return attempt(user, password, call, System.nanoTime() + call.retryLimit().toNanos());
  }

  private CompletionStage<AuthenticateResponse> attempt(
      String user, String password, Call call, long endNanos) {
    return reads
        .linearizable(call.trace(), ReadIndexBatcher.Kind.POINT, () -> known(user))
        .thenCompose(
            known ->
                logins
                    .passwords()
                    .fits(user, known.hash(), password, call::isAbandoned)
                    .thenCompose(
                        fits -> {
                          if (!fits) {
                            throw new RefusedException(Refusal.AUTH_FAILED);
                          }
                          if (call.isAbandoned()) {
                            // Creates no entry and no token for a disconnected client.
                            throw Call.canceled();
                          }
                          return issue(user, known.authRevision(), call);
                        }))
        .handle(
            (response, failure) -> {
              if (failure == null) {
                return CompletableFuture.completedFuture(response);
              }
              return isOvertaken(failure) && !call.isAbandoned() && System.nanoTime() < endNanos
                  ? attempt(user, password, call, endNanos)
                  : CompletableFuture.<AuthenticateResponse>failedFuture(failure);
            })
        .thenCompose(next -> next);
  }

  private static boolean isOvertaken(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof RefusedException refused
        && refused.reason() == Refusal.AUTH_OLD_REVISION;
  }

  private Known known(String name) {
    AuthState auth = member.state().auth();
    if (!auth.isEnabled()) {
      throw new RefusedException(Refusal.AUTH_NOT_ENABLED);
    }
    AuthUser user = auth.user(name);
    if (user == null) {
      throw new RefusedException(Refusal.AUTH_FAILED);
    }
    if (user.noPassword()) {
      throw Passwords.noPasswordUser();
    }
    return new Known(user.passwordHash(), auth.revision());
  }

  private CompletionStage<AuthenticateResponse> issue(String user, long authRevision, Call call) {
    if (logins.tokens() instanceof SimpleTokens simple) {
      return proposer
          .propose(
              Requester.ANONYMOUS,
              new Operation.Authenticate(user, simple.newPrefix(), authRevision),
              call)
          .thenApply(
              result -> {
                Result.Authenticated done = (Result.Authenticated) result;
                return AuthenticateResponse.newBuilder()
                    .setHeader(member.header(done.revision()))
                    .setToken(done.token())
                    .build();
              });
    }
    if (logins.tokens() instanceof JwtTokens jwt) {
      return CompletableFuture.completedFuture(
          AuthenticateResponse.newBuilder()
              .setHeader(member.header())
              .setToken(jwt.sign(user, authRevision))
              .build());
    }
    throw new RefusedException(Refusal.AUTH_FAILED);
  }
}
