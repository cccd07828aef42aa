package io.troupe.server;

import io.troupe.auth.AuthState;
import io.troupe.auth.Authorizer;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.WatchRight;
import io.troupe.server.auth.Tokens;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the caller of a call and checks its rights (A3, A13). Entries of the log are checked
 * when they are applied; here they only get their requester. Reads are checked here, against the
 * state that they read. Thread-safe.
 */
final class CallerResolver {
  private static final CompletionStage<Requester> ANONYMOUS =
      CompletableFuture.completedFuture(Requester.ANONYMOUS);

  private final Member member;
  private final ReadIndexBatcher reads;
  private final Tokens tokens;

  CallerResolver(Member member, ReadIndexBatcher reads, Tokens tokens) {
    this.member = member;
    this.reads = reads;
    this.tokens = tokens;
  }

  /** A permission check. */
  interface Check {
    /** The refusal, or null if the requester is permitted. */
    @Nullable Refusal of(Authorizer authorizer, Requester who);
  }

  /**
   * The caller, as soon as this member can identify it: a token of another member becomes known
   * when its entry is applied here (A5). With authentication disabled every caller is anonymous.
   *
   * @throws RefusedException INVALID_AUTH_TOKEN, also through the stage
   */
  CompletionStage<Requester> of(Call call) {
    AuthState auth = member.state().auth();
    if (!auth.isEnabled() || call.isAnonymous()) {
      return ANONYMOUS;
    }
    Requester.User known = known(call, auth);
    if (known != null) {
      return CompletableFuture.completedFuture(known);
    }
    String token = call.token();
    if (token != null && tokens.mayStillCome(token, member.status().applied())) {
      // The caller received the token after its entry was committed, so one read index round is
      // enough.
      return reads.linearizable(
          call.trace(), ReadIndexBatcher.Kind.POINT, () -> now(call, member.state().auth()));
    }
    throw new RefusedException(Refusal.INVALID_AUTH_TOKEN);
  }

  /**
   * The caller of a write; an anonymous caller is rejected here while authentication is enabled.
   */
  CompletionStage<Requester> writer(Call call) {
    if (call.isAnonymous() && member.state().auth().isEnabled()) {
      throw new RefusedException(Refusal.USER_EMPTY);
    }
    return of(call);
  }

  /** The caller, once {@code check} permits the call by the current state of this member. */
  CompletionStage<Requester> checked(Call call, Check check) {
    return of(call)
        .thenApply(
            who -> {
              require(check, member.state().auth(), who);
              return who;
            });
  }

  /** {@link #checked} for calls that only root may make. */
  CompletionStage<Requester> root(Call call) {
    return checked(call, Authorizer::root);
  }

  /**
   * Reads what the caller may see. Must be called after all waits: after a linearizable wait, or
   * after {@link #of}.
   *
   * @throws RefusedException also when rights changed during the read (G11)
   */
  <T extends @Nullable Object> T read(Call call, Check check, Supplier<T> read) {
    AuthState auth = member.state().auth();
    if (!auth.isEnabled()) {
      return read.get();
    }
    require(check, auth, now(call, auth));
    T result = read.get();
    requireSame(auth.revision());
    return result;
  }

  /** The current auth revision, or 0 while authentication is disabled. */
  long revision() {
    AuthState auth = member.state().auth();
    return auth.isEnabled() ? auth.revision() : 0;
  }

  /**
   * Rejects a read during which rights changed.
   *
   * @param before the auth revision at its start; 0: nothing was checked
   */
  void requireSame(long before) {
    if (before != 0 && member.state().auth().revision() != before) {
      throw new RefusedException(Refusal.AUTH_OLD_REVISION);
    }
  }

  /** The caller by the currently known tokens; anonymous while authentication is disabled. */
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

  /** By the token, otherwise by the certificate, which acts at the current auth revision (A14). */
  private Requester.@Nullable User known(Call call, AuthState auth) {
    if (call.token() != null) {
      return tokens.find(call.token(), auth);
    }
    return call.certificateUser() == null
        ? null
        : new Requester.User(call.certificateUser(), auth.revision());
  }

  /** Rejects what the current state does not permit to the caller. */
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
   * The right of one watcher (W18). The token is checked once, here. Later checks use the current
   * rights of its user, even if the token is no longer valid.
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
