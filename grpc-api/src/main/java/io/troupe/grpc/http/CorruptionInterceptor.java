package io.troupe.grpc.http;

import io.troupe.model.Refusal;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RefusedException;
import java.util.List;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Source;

/**
 * A member whose state is not that of the leader tells nobody what is in it, and takes nothing:
 * keys, leases and watches are refused and running streams end. What an operator needs to find out
 * and to repair is served: Maintenance, Cluster, health. Thread-safe.
 */
final class CorruptionInterceptor {
  private static final List<String> CLOSED =
      List.of(
          "/etcdserverpb.KV/",
          "/etcdserverpb.Lease/",
          "/etcdserverpb.Watch/",
          "/v3electionpb.Election/",
          "/v3lockpb.Lock/");

  private final MemberStatus status;
  private SharedKillSwitch streams = KillSwitches.shared("corrupt");

  CorruptionInterceptor(MemberStatus status) {
    this.status = status;
  }

  private static boolean isOfState(String path) {
    return CLOSED.stream().anyMatch(path::startsWith);
  }

  /**
   * Lets a call through.
   *
   * @throws RefusedException CORRUPT if this member does not serve that now
   */
  void require(String path) {
    if (status.isCorrupt() && isOfState(path)) {
      throw new RefusedException(Refusal.CORRUPT);
    }
  }

  /** The answers of a call; they end with CORRUPT when this member ceases to serve. */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> answers, String path) {
    if (!isOfState(path)) {
      return answers;
    }
    SharedKillSwitch running;
    synchronized (this) {
      running = streams;
    }
    return answers.via(running.flow());
  }

  /** Checks the member; to be called once in a while. */
  synchronized void check() {
    if (status.isCorrupt()) {
      SharedKillSwitch ending = streams;
      streams = KillSwitches.shared("corrupt");
      ending.abort(new RefusedException(Refusal.CORRUPT));
    }
  }
}
