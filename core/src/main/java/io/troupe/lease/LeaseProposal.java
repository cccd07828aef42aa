package io.troupe.lease;

import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import java.util.List;
import java.util.stream.Stream;

/**
 * A proposal of a {@link LeaseCore}. It is made in the term in which the core counted the lease, or
 * not at all (docs/decisions/0041).
 *
 * @param <R> identifies the caller of a renewal
 */
public sealed interface LeaseProposal<R> {
  /** Term in which it is proposed. */
  long term();

  /** What is proposed. */
  Operation operation();

  /**
   * A renewal whose caller has no reply yet.
   *
   * @param id of the lease
   */
  record Renewal<R>(long id, R replyTo) implements LeaseRequest<R> {}

  /** Ends an expired lease. */
  record Revoke<R>(long term, long lease) implements LeaseProposal<R> {
    @Override
    public Operation operation() {
      return new Operation.LeaseRevoke(lease);
    }
  }

  /** Replicates remaining times (L12). */
  record Checkpoint<R>(long term, List<Remaining> leases) implements LeaseProposal<R> {
    @Override
    public Operation operation() {
      return new Operation.LeaseCheckpoint(leases);
    }
  }

  /**
   * Deletes the checkpoints of renewed leases, before their callers get a reply (L12).
   *
   * @param renewals whose callers wait
   * @param forwarded leases of renewals that another member repeats
   */
  record Forget<R>(long term, List<Renewal<R>> renewals, List<Long> forwarded)
      implements LeaseProposal<R> {
    @Override
    public Operation operation() {
      return new Operation.LeaseCheckpoint(
          leases().stream().map(lease -> new Remaining(lease, 0)).distinct().toList());
    }

    /** One for each renewal. */
    public List<Long> leases() {
      return Stream.concat(renewals.stream().map(Renewal::id), forwarded.stream()).toList();
    }
  }
}
