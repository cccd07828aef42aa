package io.troupe.actors.apply;

import io.troupe.metrics.ApplyMetrics;
import io.troupe.metrics.ApplyMetrics.Kind;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import java.util.List;

/** Counts what applied entries did, by their operations and results. */
final class ApplyCounts {
  private final ApplyMetrics metrics;

  ApplyCounts(ApplyMetrics metrics) {
    this.metrics = metrics;
  }

  /** Counts one applied entry. */
  void applied(Operation operation, Result result, long nanos) {
    boolean done = !(result instanceof Result.Refused);
    metrics.applied(kind(operation), done, nanos);
    if (done) {
      effects(operation, result);
    }
  }

  private void effects(Operation operation, Result result) {
    if (operation instanceof Operation.Put put) {
      put(put);
    } else if (operation instanceof Operation.DeleteRange) {
      metrics.deleted();
    } else if (operation instanceof Operation.Txn txn) {
      Result applied = result instanceof Result.ResponseTooLarge large ? large.applied() : result;
      branch(txn, (Result.Txn) applied);
    } else if (operation instanceof Operation.LeaseGrant grant) {
      metrics.leaseGranted(grant.ttlSeconds());
    } else if (operation instanceof Operation.LeaseRevoke) {
      metrics.leaseRevoked();
    }
  }

  private void put(Operation.Put put) {
    metrics.put((long) put.key().length() + put.value().length());
  }

  private void branch(Operation.Txn txn, Result.Txn result) {
    List<Operation.TxnOp> ran = result.succeeded() ? txn.success() : txn.failure();
    if (ran.size() > 1) {
      metrics.txn();
    }
    for (int i = 0; i < ran.size(); i++) {
      Operation.TxnOp one = ran.get(i);
      if (one instanceof Operation.Put put) {
        put(put);
      } else if (one instanceof Operation.DeleteRange) {
        metrics.deleted();
      } else if (one instanceof Operation.Txn inner
          && result.responses().get(i) instanceof Result.Txn of) {
        branch(inner, of);
      } else if (one instanceof Operation.Range) {
        metrics.ranged();
      }
    }
  }

  private static Kind kind(Operation operation) {
    if (operation instanceof Operation.Put) {
      return Kind.PUT;
    }
    if (operation instanceof Operation.Txn) {
      return Kind.TXN;
    }
    if (operation instanceof Operation.DeleteRange) {
      return Kind.DELETE_RANGE;
    }
    if (operation instanceof Operation.LeaseGrant) {
      return Kind.LEASE_GRANT;
    }
    if (operation instanceof Operation.LeaseRevoke) {
      return Kind.LEASE_REVOKE;
    }
    if (operation instanceof Operation.LeaseCheckpoint) {
      return Kind.LEASE_CHECKPOINT;
    }
    if (operation instanceof Operation.Compact) {
      return Kind.COMPACTION;
    }
    if (operation instanceof Operation.AlarmGet
        || operation instanceof Operation.AlarmActivate
        || operation instanceof Operation.AlarmDeactivate) {
      return Kind.ALARM;
    }
    return operation instanceof Operation.PublishMember ? Kind.MEMBER : Kind.OTHER;
  }
}
