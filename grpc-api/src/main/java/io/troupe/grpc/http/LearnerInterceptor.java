package io.troupe.grpc.http;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** What a learner serves (LN1, LN2). Thread-safe. */
final class LearnerInterceptor {
  /** Range is let through: what kind of read it is stands in the message. */
  private static final Set<String> SERVED =
      Set.of(
          "/etcdserverpb.Maintenance/Status",
          "/etcdserverpb.Maintenance/Snapshot",
          "/etcdserverpb.KV/Range");

  private final BooleanSupplier learner;

  /**
   * A gate.
   *
   * @param learner whether this member is one now
   */
  LearnerInterceptor(BooleanSupplier learner) {
    this.learner = learner;
  }

  /**
   * Lets a call through.
   *
   * @throws RefusedException LEARNER if this member is one and does not serve that
   */
  void require(String path) {
    if (learner.getAsBoolean() && !SERVED.contains(path)) {
      throw new RefusedException(Refusal.LEARNER);
    }
  }
}
