package io.troupe.raft;

import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;

/**
 * Proposals that a leader holds until a quorum has confirmed its term. In order of arrival; limited
 * in number and size like unapplied entries of the log.
 */
final class HeldProposals {
  /**
   * Proposals that arrived together.
   *
   * @param from the member that forwarded them, or this one
   */
  record Batch(NodeId from, List<Proposal> proposals) {}

  private final RaftSettings settings;
  private List<Batch> batches = new ArrayList<>();
  private long count;
  private long bytes;

  HeldProposals(RaftSettings settings) {
    this.settings = settings;
  }

  /** Holds the proposals that fit; returns the rest. Both stay in order. */
  List<Proposal> add(NodeId from, List<Proposal> proposals) {
    List<Proposal> kept = new ArrayList<>(proposals.size());
    List<Proposal> refused = new ArrayList<>(0);
    for (Proposal proposal : proposals) {
      if (count < settings.maxPending(proposal) && bytes < settings.maxLogBytesInMemory()) {
        kept.add(proposal);
        count++;
        bytes += proposal.operation().length() + (long) RaftLog.ENTRY_OVERHEAD_BYTES;
      } else {
        refused.add(proposal);
      }
    }
    if (!kept.isEmpty()) {
      batches.add(new Batch(from, List.copyOf(kept)));
    }
    return refused;
  }

  /** Returns all, oldest first, and clears the queue. */
  List<Batch> drain() {
    List<Batch> all = batches;
    batches = new ArrayList<>();
    count = 0;
    bytes = 0;
    return all;
  }
}
