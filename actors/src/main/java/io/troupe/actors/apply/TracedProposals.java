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
 * Proposals of other members that belong to a trace, until their entries are applied. Apart from
 * those who wait for answers: what comes from another member must not get in their way. Not
 * thread-safe: part of the apply actor.
 */
final class TracedProposals {
  /** Bounds the memory; further ones are not traced here. */
  static final int MOST = 4096;

  private record Taken(TraceContext call, long nanos, long sweep) {}

  private final ForwardedTraces traces;
  private final Map<Long, Taken> taken = new HashMap<>();
  private long sweeps;

  TracedProposals(ForwardedTraces traces) {
    this.traces = traces;
  }

  /**
   * Their entries may come. A proposal that comes again keeps its first time.
   *
   * @param nanos when the raft actor took them
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
   * An entry was applied.
   *
   * @param id of its proposal
   * @param committedNanos when it was known to be committed
   */
  void applied(RequestId id, long index, long committedNanos) {
    // Nearly always.
    if (taken.isEmpty()) {
      return;
    }
    @Nullable Taken one = taken.remove(id.value());
    if (one != null) {
      traces.applied(new ForwardedTraces.Forwarded(one.call(), index, one.nanos(), committedNanos));
    }
  }

  /** Forgets those whose entries did not come since the sweep before the last. */
  void sweep() {
    sweeps++;
    taken.values().removeIf(one -> one.sweep() + 1 < sweeps);
  }
}
