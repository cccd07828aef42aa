package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import io.troupe.protocol.ForwardedTraces.Forwarded;
import io.troupe.raft.Proposal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TracedProposalsTest {
  private final List<Forwarded> reported = new ArrayList<>();
  private final TracedProposals traced = new TracedProposals(reported::add);

  private static TraceContext call(long id) {
    return new TraceContext(1, 2, id, 1);
  }

  private static Proposal traced(long id) {
    return new Proposal(new RequestId(id), Bytes.EMPTY, false, call(id));
  }

  private static Proposal untraced(long id) {
    return new Proposal(new RequestId(id), Bytes.EMPTY);
  }

  private void applied(long... ids) {
    for (long id : ids) {
      traced.applied(new RequestId(id), 100 + id, 1000);
    }
  }

  @Test
  void onlyTracedProposalsOfMessageAreReported() {
    traced.expect(List.of(untraced(1), traced(2), untraced(3), traced(4)), 50);
    applied(1, 2, 3, 4, 5);
    assertThat(reported)
        .containsExactly(
            new Forwarded(call(2), 102, 50, 1000), new Forwarded(call(4), 104, 50, 1000));
  }

  @Test
  void repeatedProposalIsReportedOnceWithFirstTime() {
    traced.expect(List.of(traced(2)), 50);
    traced.expect(List.of(traced(2)), 60);
    applied(2, 2);
    assertThat(reported).containsExactly(new Forwarded(call(2), 102, 50, 1000));
  }

  @Test
  void proposalWithoutEntryIsForgotten() {
    traced.expect(List.of(traced(1)), 50);
    traced.sweep();
    traced.expect(List.of(traced(2)), 50);
    traced.sweep();
    applied(1, 2);
    assertThat(reported).extracting(Forwarded::call).containsExactly(call(2));
  }

  @Test
  void memoryIsBounded() {
    for (int id = 1; id <= TracedProposals.MOST + 1; id++) {
      traced.expect(List.of(traced(id)), 50);
    }
    applied(TracedProposals.MOST + 1, TracedProposals.MOST);
    assertThat(reported).extracting(Forwarded::call).containsExactly(call(TracedProposals.MOST));
  }
}
