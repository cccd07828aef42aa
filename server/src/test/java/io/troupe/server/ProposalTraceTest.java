package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.ReplyBatch;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.testing.LoggedLines;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps of a slow proposal in the log. */
class ProposalTraceTest {
  private static final long MS = 1_000_000;
  private static final Instant END = Instant.parse("2026-01-01T00:00:01Z");

  private final ProposalTrace trace = new ProposalTrace(Clock.fixed(END, ZoneOffset.UTC));
  private final RequestId id = new RequestId(77);
  private final Bytes operation = OperationCodec.encode(id, new Operation.LeaseGrant(0x1f, 60));

  private void end(long atMs) {
    trace.ended(
        id,
        operation,
        1 * MS,
        atMs * MS,
        new ProposeReply.Applied(
            new Result.Done(1), 9, 11 * MS, 61 * MS, 91 * MS, ReplyBatch.ALONE));
  }

  @Test
  void slowProposalIsLoggedWithSteps() {
    try (LoggedLines log = new LoggedLines(ProposalTrace.class, Level.INFO)) {
      end(101);
      assertThat(log.lines()).hasSize(1);
      assertThat(log.lines().get(0).getMessage()).isEqualTo("trace[77] lease_grant");
      assertThat(LoggedLines.pairs(log.lines().get(0)))
          .containsEntry("detail", "lease_grant ID:1f TTL:60")
          .containsEntry("index", 9L)
          .containsEntry("duration", Duration.ofMillis(100))
          .containsEntry("start", END.minusMillis(100))
          .containsEntry("end", END)
          .containsEntry(
              "steps",
              List.of(
                  "trace[77] 'queue' (duration: 10.0ms)",
                  "trace[77] 'agreement' (duration: 50.0ms)",
                  "trace[77] 'apply' (duration: 30.0ms)",
                  "trace[77] 'answer' (duration: 10.0ms)"))
          .containsEntry("step_count", 4)
          .containsEntry("suppressed", 0L);
    }
  }

  @Test
  void fastProposalIsNotLogged() {
    try (LoggedLines log = new LoggedLines(ProposalTrace.class, Level.INFO)) {
      end(100);
      assertThat(log.lines()).isEmpty();
    }
  }

  @Test
  void linesOfSlowProposalsAreLimited() {
    try (LoggedLines log = new LoggedLines(ProposalTrace.class, Level.INFO)) {
      for (int at = 200; at <= 310; at += 10) {
        end(at);
      }
      assertThat(log.lines()).hasSize(2);
      assertThat(LoggedLines.pairs(log.lines().get(1))).containsEntry("suppressed", 9L);
    }
  }
}
