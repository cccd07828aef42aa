package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.StatusResponse;
import io.troupe.server.auth.Tokens;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatusTest {
  private final FakeMember fake = new FakeMember(true);

  @AfterEach
  void stop() {
    fake.close();
  }

  @Test
  void appliedIndexNeverExceedsCommitIndex_MT1() throws Exception {
    ReadIndexBatcher reads =
        new ReadIndexBatcher(fake.member, FakeMember.REQUEST_TIMEOUT, fake.settings.tick());
    MaintenanceService maintenance =
        new MaintenanceService(
            fake.member,
            reads,
            fake.proposer,
            new Quota(fake.member, fake.proposer, 0, () -> true),
            new LeaderTransfer(fake.member, fake.settings),
            () -> CompletableFuture.completedFuture(null),
            new CallerResolver(
                fake.member, reads, Tokens.of("", Duration.ofSeconds(1), 1000, Clock.systemUTC())),
            1 << 20,
            1 << 20);
    fake.getBusy();
    StatusResponse status =
        maintenance.status(FakeMember.call()).toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(status.getRaftIndex()).isGreaterThanOrEqualTo(status.getRaftAppliedIndex());
  }
}
