package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.auth.AuthState;
import io.troupe.grpc.api.backup.BackupResponse;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.AuthUser;
import io.troupe.model.MemoryBudget;
import io.troupe.model.NodeId;
import io.troupe.server.auth.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may ask which member for a backup. */
class BackupServiceTest {
  private static final WrittenBackup WRITTEN =
      new WrittenBackup(
          "20261126T030405Z-a", Instant.ofEpochMilli(1_700_000_000_123L), 7, 10, 99, "/backups");

  private final FakeMember fake = new FakeMember(true);
  private final CallerResolver callers =
      new CallerResolver(
          fake.member,
          new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick()),
          Tokens.of("simple", Duration.ofHours(1), 1000, Clock.systemUTC()));
  private final AtomicInteger asked = new AtomicInteger();
  private final BackupService service =
      new BackupService(
          fake.member,
          callers,
          () -> {
            asked.incrementAndGet();
            return CompletableFuture.completedFuture(WRITTEN);
          });

  @AfterEach
  void stop() {
    fake.close();
  }

  private BackupResponse write() throws Exception {
    return service.write(FakeMember.call()).toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static GrpcStatus failure(BackupService service) {
    return failure(service, FakeMember.call());
  }

  private static GrpcStatus failure(BackupService service, Call call) {
    try {
      CompletableFuture<BackupResponse> response = service.write(call).toCompletableFuture();
      return response.handle((done, failure) -> GrpcErrors.of(failure)).get(60, TimeUnit.SECONDS);
    } catch (RuntimeException refused) {
      return GrpcErrors.of(refused);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void leaderRepliesWithTheBackup() throws Exception {
    BackupResponse response = write();
    assertThat(response.getId()).isEqualTo(WRITTEN.id());
    assertThat(response.getTime()).isEqualTo(1_700_000_000_123L);
    assertThat(response.getRevision()).isEqualTo(7);
    assertThat(response.getIndex()).isEqualTo(10);
    assertThat(response.getBytes()).isEqualTo(99);
    assertThat(response.getTarget()).isEqualTo("/backups");
    assertThat(response.getHeader().getMemberId()).isEqualTo(FakeMember.SELF.value());
  }

  @Test
  void otherMembersNameTheLeader() {
    fake.show(FakeMember.view(3, 0, 1));
    fake.lead(FakeMember.id(2));
    assertThat(failure(service))
        .isEqualTo(
            new GrpcStatus(
                GrpcStatus.FAILED_PRECONDITION,
                "the leader writes the backups: ask member n2 (2) at http://c2:1"));
    fake.lead(new NodeId(9));
    assertThat(failure(service).message()).endsWith("ask member 9");
    fake.lead(NodeId.NONE);
    assertThat(failure(service).code()).isEqualTo(GrpcStatus.UNAVAILABLE);
    assertThat(asked).hasValue(0);
  }

  @Test
  void memberWithoutSettingsSaysSo() {
    BackupService without = new BackupService(fake.member, callers, BackupRequests.NONE);
    assertThat(failure(without))
        .isEqualTo(
            new GrpcStatus(
                GrpcStatus.FAILED_PRECONDITION,
                "this member writes no backups: troupe.backup.directory is not set"));
  }

  @Test
  void onlyRootMayAsk() throws Exception {
    fake.show(
        new AuthState(
            true,
            5,
            List.of(
                new AuthUser("root", "", false, List.of("root")),
                new AuthUser("u", "", false, List.of())),
            List.of()));
    assertThat(failure(service).code()).as("without a name").isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(failure(service, as("u")).code()).isEqualTo(GrpcStatus.PERMISSION_DENIED);
    assertThat(asked).hasValue(0);
    CompletionStage<BackupResponse> response = service.write(as("root"));
    assertThat(response.toCompletableFuture().get(60, TimeUnit.SECONDS).getRevision()).isEqualTo(7);
  }

  private static Call as(String user) {
    return new Call(
        null,
        false,
        Optional.empty(),
        "",
        new MemoryBudget(1 << 20).share(),
        () -> false,
        user,
        Runnable::run,
        CallTrace.NONE);
  }
}
