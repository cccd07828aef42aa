package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.auth.AuthState;
import io.troupe.auth.Authorizer;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Permission;
import io.troupe.model.Refusal;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.WatchRight;
import io.troupe.server.auth.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallerResolverTest {
  private static final KeyRange A = KeyRange.single(Bytes.utf8("a"));
  private static final String EARLIER = "abcdefghijklmnop.99";
  private static final String LATER = "abcdefghijklmnop.101";

  private final FakeMember fake = new FakeMember(true);
  private final Tokens tokens = Tokens.of("simple", Duration.ofHours(1), 1000, Clock.systemUTC());
  private final CallerResolver callers =
      new CallerResolver(
          fake.member,
          new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick()),
          tokens);

  @AfterEach
  void stop() {
    fake.close();
  }

  private static Call call(@Nullable String token) {
    return withCertificate(token, null);
  }

  private static Call withCertificate(@Nullable String token, @Nullable String name) {
    return new Call(
        token,
        false,
        Optional.empty(),
        "",
        new MemoryBudget(1 << 20).share(),
        () -> false,
        name,
        Runnable::run,
        CallTrace.NONE);
  }

  @Test
  void commonNameOfCertificateIsUser_A14() {
    Call call = withCertificate(null, "u");
    assertThat(callers.of(call)).as("without logins").isCompletedWithValue(Requester.ANONYMOUS);
    enable(5, Permission.Type.READ);
    assertThat(callers.of(call)).isCompletedWithValue(new Requester.User("u", 5));
    assertThat(callers.writer(call)).isCompletedWithValue(new Requester.User("u", 5));
    CallerResolver.Check read = (authorizer, who) -> authorizer.read(who, A);
    assertThat(callers.<String>read(call, read, () -> "value")).isEqualTo("value");
    enable(6, Permission.Type.READ);
    assertThat(callers.of(call))
        .as("always at the current auth revision")
        .isCompletedWithValue(new Requester.User("u", 6));
    assertRefused(
        () -> callers.<String>read(withCertificate(null, "unknown-user"), read, () -> "value"),
        Refusal.PERMISSION_DENIED);
  }

  @Test
  void tokenPrecedesCertificate_A14() {
    enable(5, Permission.Type.READ);
    login(EARLIER);
    assertThat(callers.of(withCertificate(EARLIER, "unknown-user")))
        .isCompletedWithValue(new Requester.User("u", 5));
    assertRefused(() -> callers.of(withCertificate("rubbish", "u")), Refusal.INVALID_AUTH_TOKEN);
    assertRefused(() -> callers.of(withCertificate("", "u")), Refusal.INVALID_AUTH_TOKEN);
    assertRefused(() -> callers.writer(call("")), Refusal.INVALID_AUTH_TOKEN);
  }

  private void enable(long authRevision, Permission.Type right) {
    fake.show(
        new AuthState(
            true,
            authRevision,
            List.of(new AuthUser("u", "", false, List.of("r"))),
            List.of(new AuthRole("r", List.of(new Permission(right, A))))));
  }

  private void login(String token) {
    tokens.applied(
        new Operation.Authenticate("u", token.substring(0, 16), 5),
        new Result.Authenticated(1, token));
  }

  private static void assertRefused(Runnable work, Refusal reason) {
    assertThatThrownBy(work::run)
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }

  @Test
  void tokensAreIgnoredWithoutAuthentication_A1() {
    assertThat(callers.of(call("rubbish"))).isCompletedWithValue(Requester.ANONYMOUS);
    assertThat(callers.writer(call(null))).isCompletedWithValue(Requester.ANONYMOUS);
  }

  @Test
  void waitsForTokenOfUnappliedEntry_A5() throws Exception {
    enable(5, Permission.Type.READ);
    CompletableFuture<Requester> caller = callers.of(call(LATER)).toCompletableFuture();
    RaftCommand.ReadIndex round = fake.raft.expectMessageClass(RaftCommand.ReadIndex.class);
    assertThat(caller).isNotDone();
    login(LATER);
    round.replyTo().tell(new ReadReply.Ready(101, 0));
    assertThat(caller).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(new Requester.User("u", 5));
    assertRefused(() -> callers.of(call(EARLIER)), Refusal.INVALID_AUTH_TOKEN);
    fake.raft.expectNoMessage(Duration.ZERO);
  }

  @Test
  void anonymousWriteIsRejectedBeforeLog_A3() {
    enable(5, Permission.Type.READ);
    assertRefused(() -> callers.writer(call(null)), Refusal.USER_EMPTY);
  }

  @Test
  void readIsRejectedWhenRightsChange_G11() {
    enable(5, Permission.Type.READ);
    login(EARLIER);
    CallerResolver.Check read = (authorizer, who) -> authorizer.read(who, A);
    assertThat(callers.<String>read(call(EARLIER), read, () -> "value")).isEqualTo("value");
    assertRefused(
        () ->
            callers.<String>read(
                call(EARLIER),
                read,
                () -> {
                  enable(6, Permission.Type.READ);
                  return "value";
                }),
        Refusal.AUTH_OLD_REVISION);
    enable(7, Permission.Type.WRITE);
    assertRefused(
        () -> callers.<String>read(call(EARLIER), read, () -> "value"), Refusal.PERMISSION_DENIED);
    assertRefused(
        () -> callers.<String>read(call(EARLIER), Authorizer::root, () -> "value"),
        Refusal.PERMISSION_DENIED);
  }

  @Test
  void watchUsesCurrentRightsOfUser_W18() throws Exception {
    enable(5, Permission.Type.READ);
    login(EARLIER);
    WatchRight right = callers.watch(call(EARLIER)).toCompletableFuture().get();
    assertThat(right.refusal(A)).isNull();
    enable(6, Permission.Type.READWRITE);
    assertThat(right.refusal(A)).as("the same right in a later state").isNull();
    enable(7, Permission.Type.WRITE);
    assertThat(right.refusal(A))
        .isEqualTo("rpc error: code = PermissionDenied desc = etcdserver: permission denied");
    WatchRight bad = callers.watch(call("x")).toCompletableFuture().get();
    assertThat(bad.refusal(A))
        .isEqualTo("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token");
  }
}
