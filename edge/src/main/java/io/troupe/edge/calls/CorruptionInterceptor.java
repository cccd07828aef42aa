package io.troupe.edge.calls;

import io.troupe.model.Refusal;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RefusedException;
import java.util.List;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Source;

/**
 * Rejects calls on keys, leases and watches, and closes their streams, on a member whose state
 * differs from the leader's. Maintenance, Cluster and health stay available, because an operator
 * needs them to diagnose and repair the member. Thread-safe.
 */
public final class CorruptionInterceptor {
  private static final List<String> CLOSED =
      List.of(
          "/etcdserverpb.KV/",
          "/etcdserverpb.Lease/",
          "/etcdserverpb.Watch/",
          "/v3electionpb.Election/",
          "/v3lockpb.Lock/");

  private final MemberStatus status;
  private SharedKillSwitch streams = KillSwitches.shared("corrupt");

  public CorruptionInterceptor(MemberStatus status) {
    this.status = status;
  }

  private static boolean isOfState(String path) {
    return CLOSED.stream().anyMatch(path::startsWith);
  }

  /**
   * Checks a call.
   *
   * @throws RefusedException CORRUPT if this member does not serve the method now
   */
  void require(String path) {
    if (status.isCorrupt() && isOfState(path)) {
      throw new RefusedException(Refusal.CORRUPT);
    }
  }

  /** The responses of a call; they fail with CORRUPT when this member stops serving the method. */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> responses, String path) {
    if (!isOfState(path)) {
      return responses;
    }
    SharedKillSwitch running;
    synchronized (this) {
      running = streams;
    }
    return responses.via(running.flow());
  }

  /** Checks the member; must be called periodically. */
  public synchronized void check() {
    if (status.isCorrupt()) {
      SharedKillSwitch ending = streams;
      streams = KillSwitches.shared("corrupt");
      ending.abort(new RefusedException(Refusal.CORRUPT));
    }
  }
}
