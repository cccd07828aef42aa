package io.troupe.grpc.service;

import io.troupe.auth.AuthState;
import io.troupe.auth.Authorizer;
import io.troupe.grpc.auth.Tokens;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.WatchRight;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who calls, and what that lets them do (A3, A13). What goes into the log is judged there; here it
 * only gets its requester. Reads are judged here, by the state that they read. Thread-safe.
 */
final class CallerResolver {
  private static final CompletionStage<Requester> NOBODY =
      CompletableFuture.completedFuture(Requester.ANONYMOUS);

  private final Member member;
  private final ReadIndexBatcher gate;
  private final Tokens tokens;

  CallerResolver(Member member, ReadIndexBatcher gate, Tokens tokens) {
    this.member = member;
    this.gate = gate;
    this.tokens = tokens;
  }

  /** A question to the walk over requests. */
  interface Check {
    /** Null for a yes. */
    @Nullable Refusal of(Authorizer authorizer, Requester who);
  }

  /**
   * Who calls, as soon as this member can know: a token of another member is known when its entry
   * is applied here (A5). With authentication off everybody is nobody.
   *
   * @throws RefusedException INVALID_AUTH_TOKEN, also through the stage
   */
  CompletionStage<Requester> of(Call call) {
    AuthState auth = member.state().auth();
    if (!auth.isEnabled() || call.isAnonymous()) {
      return NOBODY;
    }
    Requester.User known = known(call, auth);
    if (known != null) {
      return CompletableFuture.completedFuture(known);
    }
    String token = call.token();
    if (token != null && tokens.mayStillCome(token, member.status().applied())) {
      // Whoever has it got it after its entry was committed, so one round is enough.
      return gate.linearizable(
          call.trace(), ReadIndexBatcher.Kind.POINT, () -> now(call, member.state().auth()));
    }
    throw new RefusedException(Refusal.INVALID_AUTH_TOKEN);
  }

  /** Who calls, for the log: who names nobody need not come that far. */
  CompletionStage<Requester> writer(Call call) {
    if (call.isAnonymous() && member.state().auth().isEnabled()) {
      throw new RefusedException(Refusal.USER_EMPTY);
    }
    return of(call);
  }

  /** Who calls, once {@code check} has let them through; by the state of this member as it is. */
  CompletionStage<Requester> checked(Call call, Check check) {
    return of(call)
        .thenApply(
            who -> {
              require(check, member.state().auth(), who);
              return who;
            });
  }

  /** {@link #checked} for what only root may do. */
  CompletionStage<Requester> root(Call call) {
    return checked(call, Authorizer::root);
  }

  /**
   * Reads what the caller may see. To be called where nothing has to be waited for any more: behind
   * a linearizable wait, or behind {@link #of}.
   *
   * @throws RefusedException also when rights changed while it was read (G11)
   */
  <T> T read(Call call, Check check, Supplier<T> read) {
    AuthState auth = member.state().auth();
    if (!auth.isEnabled()) {
      return read.get();
    }
    require(check, auth, now(call, auth));
    T answer = read.get();
    requireSame(auth.revision());
    return answer;
  }

  /** The auth revision as it is now, or 0 while authentication is off. */
  long revision() {
    AuthState auth = member.state().auth();
    return auth.isEnabled() ? auth.revision() : 0;
  }

  /**
   * Refuses what was read while rights changed.
   *
   * @param before the auth revision when it began; 0: nothing was checked
   */
  void requireSame(long before) {
    if (before != 0 && member.state().auth().revision() != before) {
      throw new RefusedException(Refusal.AUTH_OLD_REVISION);
    }
  }

  /** Who calls, by what is known now; nobody while authentication is off. */
  Requester now(Call call, AuthState auth) {
    if (!auth.isEnabled() || call.isAnonymous()) {
      return Requester.ANONYMOUS;
    }
    Requester.User known = known(call, auth);
    if (known == null) {
      throw new RefusedException(Refusal.INVALID_AUTH_TOKEN);
    }
    return known;
  }

  /** By the token, or else by the certificate, which is as new as the rights are (A14). */
  private Requester.@Nullable User known(Call call, AuthState auth) {
    if (call.token() != null) {
      return tokens.find(call.token(), auth);
    }
    return call.certificateUser() == null
        ? null
        : new Requester.User(call.certificateUser(), auth.revision());
  }

  /** Refuses what the caller may not do by the state as it is now. */
  void require(Requester who, Check check) {
    require(check, member.state().auth(), who);
  }

  private void require(Check check, AuthState auth, Requester who) {
    Refusal refusal = check.of(authorizer(auth), who);
    if (refusal != null) {
      throw new RefusedException(refusal);
    }
  }

  private Authorizer authorizer(AuthState auth) {
    return new Authorizer(auth, member.state()::allLeaseKeys);
  }

  /**
   * The right of one watcher (W18). The token is judged once, here; afterwards it counts what its
   * user may do at that time, whatever has become of the token.
   */
  CompletionStage<WatchRight> watch(Call call) {
    CompletionStage<Requester> caller;
    try {
      caller = of(call);
    } catch (RefusedException refused) {
      caller = CompletableFuture.failedFuture(refused);
    }
    return caller.handle((who, failure) -> failure == null ? right(who) : refusing(failure));
  }

  private static WatchRight refusing(Throwable failure) {
    String reason = GrpcErrors.of(failure).text();
    return range -> reason;
  }

  private WatchRight right(Requester who) {
    Refusal age = who instanceof Requester.User ? authorizer(member.state().auth()).age(who) : null;
    if (age != null) {
      return refusing(new RefusedException(age));
    }
    return range -> {
      AuthState auth = member.state().auth();
      Requester today =
          who instanceof Requester.User user
              ? new Requester.User(user.name(), auth.revision())
              : who;
      Refusal refusal = authorizer(auth).read(today, range);
      return refusal == null ? null : GrpcErrors.of(refusal).text();
    };
  }
}
