package io.troupe.edge.calls;

import io.troupe.model.Refusal;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Call;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Implements {@code hasleader} (T5, W19): rejects such a call while this member knows no leader,
 * and closes such a stream when no leader was known for {@value #CHECKS} election timeouts in a
 * row. Streams are not checked one by one: all running streams share a switch. Thread-safe.
 */
public final class RequireLeaderInterceptor {
  /** Checks in a row without a leader after which the streams are closed. */
  static final int CHECKS = 3;

  private static final Logger LOG = LoggerFactory.getLogger(RequireLeaderInterceptor.class);

  private final MemberStatus status;
  private SharedKillSwitch streams = KillSwitches.shared("hasleader");
  private int checksWithout;

  public RequireLeaderInterceptor(MemberStatus status) {
    this.status = status;
  }

  /**
   * Checks a call.
   *
   * @throws RefusedException NO_LEADER if the call requires a leader and there is none
   */
  void require(Call call) {
    if (call.hasLeader() && status.leader().isNone()) {
      throw new RefusedException(Refusal.NO_LEADER);
    }
  }

  /**
   * The responses of a call; if it requires a leader, they fail with NO_LEADER when the leader is
   * lost.
   */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> responses, Call call) {
    if (!call.hasLeader()) {
      return responses;
    }
    SharedKillSwitch running;
    synchronized (this) {
      running = streams;
    }
    return responses.via(running.flow());
  }

  /** Checks the leader; must be called once per election timeout. */
  public synchronized void check() {
    if (!status.leader().isNone()) {
      checksWithout = 0;
      return;
    }
    checksWithout++;
    if (checksWithout >= CHECKS) {
      LOG.debug("no leader, closing streams that require a leader checks={}", checksWithout);
      SharedKillSwitch ending = streams;
      streams = KillSwitches.shared("hasleader");
      ending.abort(new RefusedException(Refusal.NO_LEADER));
    }
  }
}
