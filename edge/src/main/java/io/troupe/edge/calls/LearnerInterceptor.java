package io.troupe.edge.calls;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Rejects the methods that a learner does not serve (LN1, LN2). Thread-safe. */
public final class LearnerInterceptor {
  /** Range is admitted here, because only its message says whether the read is serializable. */
  private static final Set<String> SERVED =
      Set.of(
          "/etcdserverpb.Maintenance/Status",
          "/etcdserverpb.Maintenance/Snapshot",
          "/etcdserverpb.KV/Range");

  private final BooleanSupplier learner;

  /**
   * Creates the interceptor.
   *
   * @param learner whether this member is a learner now
   */
  public LearnerInterceptor(BooleanSupplier learner) {
    this.learner = learner;
  }

  /**
   * Checks a call.
   *
   * @throws RefusedException LEARNER if this member is a learner and does not serve the method
   */
  void require(String path) {
    if (learner.getAsBoolean() && !SERVED.contains(path)) {
      throw new RefusedException(Refusal.LEARNER);
    }
  }
}
