package io.troupe.grpc.http;

import io.troupe.grpc.service.Call;
import io.troupe.model.Refusal;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.RefusedException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code hasleader} asks for (T5, W19): such a call is refused while this member knows no
 * leader, and such a stream ends when none was known for {@value #CHECKS} election timeouts in a
 * row. Streams are not checked one by one: all that run share a switch. Thread-safe.
 */
final class RequireLeaderInterceptor {
  /** Checks without a leader that end the streams. */
  static final int CHECKS = 3;

  private static final Logger LOG = LoggerFactory.getLogger(RequireLeaderInterceptor.class);

  private final MemberStatus status;
  private SharedKillSwitch streams = KillSwitches.shared("hasleader");
  private int checksWithout;

  RequireLeaderInterceptor(MemberStatus status) {
    this.status = status;
  }

  /**
   * Lets a call through.
   *
   * @throws RefusedException NO_LEADER if the call wants a leader and there is none
   */
  void require(Call call) {
    if (call.hasLeader() && status.leader().isNone()) {
      throw new RefusedException(Refusal.NO_LEADER);
    }
  }

  /** The answers of a call; if it wants a leader, they end with NO_LEADER when that is gone. */
  <T> Source<T, NotUsed> guarded(Source<T, NotUsed> answers, Call call) {
    if (!call.hasLeader()) {
      return answers;
    }
    SharedKillSwitch running;
    synchronized (this) {
      running = streams;
    }
    return answers.via(running.flow());
  }

  /** Checks the leader; to be called once in each election timeout. */
  synchronized void check() {
    if (!status.leader().isNone()) {
      checksWithout = 0;
      return;
    }
    checksWithout++;
    if (checksWithout >= CHECKS) {
      LOG.debug("no leader, streams that want one end checks={}", checksWithout);
      SharedKillSwitch ending = streams;
      streams = KillSwitches.shared("hasleader");
      ending.abort(new RefusedException(Refusal.NO_LEADER));
    }
  }
}
