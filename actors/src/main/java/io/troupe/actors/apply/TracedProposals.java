package io.troupe.actors.apply;

import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.raft.Proposal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Proposals of other members that belong to a trace, until their entries are applied. Kept apart
 * from the pending replies, so that other members cannot use their capacity. Not thread-safe: part
 * of the apply actor.
 */
final class TracedProposals {
  /** Bounds the memory; further proposals are not traced on this member. */
  static final int MOST = 4096;

  private record Taken(TraceContext call, long nanos, long sweep) {}

  private final ForwardedTraces traces;
  private final Map<Long, Taken> taken = new HashMap<>();
  private long sweeps;

  TracedProposals(ForwardedTraces traces) {
    this.traces = traces;
  }

  /**
   * Remembers proposals whose entries may be applied later. A repeated proposal keeps its first
   * time.
   *
   * @param nanos when the raft actor received them
   */
  void expect(List<Proposal> proposals, long nanos) {
    for (Proposal proposal : proposals) {
      TraceContext call = proposal.trace();
      if (call != null && taken.size() < MOST) {
        taken.putIfAbsent(proposal.id().value(), new Taken(call, nanos, sweeps));
      }
    }
  }

  /**
   * Reports the entry if its proposal is traced.
   *
   * @param id of its proposal
   * @param committedNanos when this member learned that the entry is committed
   */
  void applied(RequestId id, long index, long committedNanos) {
    // The usual case.
    if (taken.isEmpty()) {
      return;
    }
    @Nullable Taken one = taken.remove(id.value());
    if (one != null) {
      traces.applied(new ForwardedTraces.Forwarded(one.call(), index, one.nanos(), committedNanos));
    }
  }

  /** Drops the proposals whose entries were not applied since the sweep before the last. */
  void sweep() {
    sweeps++;
    taken.values().removeIf(one -> one.sweep() + 1 < sweeps);
  }
}
