package io.troupe.raft;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects proposals that wait in the mailbox of the raft actor together: they become one batch and
 * so one record in the log. The callers of a batch are registered before it is proposed, because
 * its entries may be applied or refused at any time after that. One thread.
 *
 * @param <E> the expectation of a reply
 */
public final class ProposalBatcher<E> {
  /**
   * What the batcher causes.
   *
   * @param <E> the expectation of a reply
   */
  public interface Effects<E> {
    /** Calls {@link ProposalBatcher#flush} after all messages that already wait. */
    void flushLater();

    /** Registers the callers of the proposals that are proposed next. */
    void expect(List<E> expectations);

    /** Proposes a batch, as {@link RaftCore#propose}. */
    void propose(List<Proposal> batch);
  }

  private final Effects<E> effects;
  private final List<Proposal> proposals = new ArrayList<>();
  private final List<E> expectations = new ArrayList<>();

  public ProposalBatcher(Effects<E> effects) {
    this.effects = effects;
  }

  /** Adds a proposal to the next batch. */
  public void add(Proposal proposal, E expectation) {
    proposals.add(proposal);
    expectations.add(expectation);
    if (proposals.size() == 1) {
      effects.flushLater();
    }
  }

  /** Proposes the batch. */
  public void flush() {
    effects.expect(List.copyOf(expectations));
    expectations.clear();
    List<Proposal> batch = List.copyOf(proposals);
    proposals.clear();
    effects.propose(batch);
  }

  /**
   * Proposes immediately and not with the next batch: a proposal that waits is forwarded if the
   * role changes, and this one is for the current leadership alone.
   */
  public void proposeNow(Proposal proposal, E expectation) {
    effects.expect(List.of(expectation));
    effects.propose(List.of(proposal));
  }

  /** Drops the proposals that are not proposed yet; returns their expectations. */
  public List<E> drop() {
    List<E> dropped = List.copyOf(expectations);
    expectations.clear();
    proposals.clear();
    return dropped;
  }
}
