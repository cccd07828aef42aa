package io.troupe.server;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import java.util.concurrent.CompletionStage;

/**
 * Reads that check whether this member serves (H2, H3): the cheapest reads on the path of client
 * reads. They fail like those, with the same time limit, and also work on a learner.
 */
public final class ServingProbe {
  private static final RangeQuery CHEAPEST =
      new RangeQuery(
          new KeyRange(Bytes.of(0), Bytes.EMPTY),
          1,
          0,
          RangeQuery.SortOrder.NONE,
          RangeQuery.SortTarget.KEY,
          true,
          false,
          0,
          0,
          0,
          0);

  private final Member member;
  private final ReadIndexBatcher reads;

  ServingProbe(Member member, ReadIndexBatcher reads) {
    this.member = member;
    this.reads = reads;
  }

  /** Fails if this member cannot confirm with a quorum that its state is current. */
  public CompletionStage<Long> linearizable() {
    return reads.linearizable(ReadIndexBatcher.Kind.POINT, this::read);
  }

  /** Fails if this member's state cannot be read. */
  public CompletionStage<Long> serializable() {
    return reads.serializable(ReadIndexBatcher.Kind.POINT, this::read);
  }

  private Long read() {
    try (MemoryBudget.Share share = MemoryBudget.UNLIMITED.share()) {
      return member.state().range(CHEAPEST, share).revision();
    }
  }
}
