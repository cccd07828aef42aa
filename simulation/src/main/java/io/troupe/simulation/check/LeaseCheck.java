package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.LeaseEnd;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks leases with a clock outside of all members. An acknowledged grant or renewal guarantees
 * the full time from the moment its request was sent. Only a requested revoke may end a lease
 * earlier.
 *
 * @source etcd surface 2.10 (L4, L5, L9)
 */
public final class LeaseCheck {
  private static final long MICROS = 1_000_000;

  private record Guarantee(Call call, long fromUs, long untilUs) {}

  /** One lease in the history. */
  private static final class Life {
    final List<Guarantee> guarantees = new ArrayList<>();
    final List<Call> reportedGone = new ArrayList<>();
    final List<Call> refusedPuts = new ArrayList<>();
    long ttlSeconds;
    long grantedUs = Call.NEVER;
    long revokeAskedUs = Call.NEVER;
    @Nullable LeaseEnd end;
  }

  private final Map<Long, Life> lives = new HashMap<>();

  private LeaseCheck() {}

  /**
   * Checks all leases.
   *
   * @throws Violation naming the violated guarantee
   */
  public static void check(List<Call> calls, List<LeaseEnd> ends) {
    LeaseCheck check = new LeaseCheck();
    calls.forEach(check::grants);
    calls.forEach(check::renewalsAndWrites);
    for (LeaseEnd end : ends) {
      Life life = check.life(end.lease());
      require(life.end == null, "a lease ended twice", end);
      life.end = end;
    }
    check.lives.values().forEach(LeaseCheck::check);
  }

  private Life life(long lease) {
    return lives.computeIfAbsent(lease, id -> new Life());
  }

  private void grants(Call call) {
    if (call.request() instanceof Request.Write write
        && write.operation() instanceof Operation.LeaseGrant grant) {
      Life life = life(grant.id());
      life.ttlSeconds = grant.ttlSeconds();
      if (call.answer() instanceof Answer.Done done
          && done.result() instanceof Result.LeaseGrant granted) {
        require(granted.ttlSeconds() == grant.ttlSeconds(), "granted another time", call);
        life.grantedUs = call.returnedUs();
        guarantee(life, call);
      }
    }
  }

  private void renewalsAndWrites(Call call) {
    if (call.request() instanceof Request.KeepAlive renew
        && call.answer() instanceof Answer.Renewed renewed) {
      Life life = life(renew.lease());
      if (renewed.ttlSeconds() == 0) {
        life.reportedGone.add(call);
      } else {
        require(renewed.ttlSeconds() == life.ttlSeconds, "renewed for another time", call);
        guarantee(life, call);
      }
    } else if (call.request() instanceof Request.TimeToLive query
        && call.answer() instanceof Answer.Remaining remaining) {
      Life life = life(query.lease());
      if (remaining.remainingSeconds() == -1) {
        life.reportedGone.add(call);
      } else {
        require(remaining.ttlSeconds() == life.ttlSeconds, "remains of another time", call);
      }
    } else if (call.request() instanceof Request.Write write) {
      if (write.operation() instanceof Operation.LeaseRevoke revoke) {
        Life life = life(revoke.id());
        life.revokeAskedUs = Math.min(life.revokeAskedUs, call.invokedUs());
        if (isRefusedAsUnknown(call)) {
          life.reportedGone.add(call);
        }
      } else if (write.operation() instanceof Operation.Put put
          && put.lease() != 0
          && isRefusedAsUnknown(call)) {
        life(put.lease()).refusedPuts.add(call);
      }
    }
  }

  private static boolean isRefusedAsUnknown(Call call) {
    return call.answer() instanceof Answer.Done done
        && done.result() instanceof Result.Refused refused
        && refused.reason() == Refusal.LEASE_NOT_FOUND;
  }

  private static void guarantee(Life life, Call call) {
    life.guarantees.add(
        new Guarantee(call, call.invokedUs(), call.invokedUs() + life.ttlSeconds * MICROS));
  }

  private static void check(Life life) {
    LeaseEnd end = life.end;
    long endUs = end == null ? Call.NEVER : end.atUs();
    for (Guarantee guarantee : life.guarantees) {
      require(guarantee.fromUs() <= endUs, "renewed after its end", guarantee, end);
      require(
          guarantee.untilUs() <= endUs || life.revokeAskedUs <= endUs,
          "ended before its time",
          guarantee,
          end);
    }
    for (Call call : life.reportedGone) {
      require(
          life.grantedUs > call.invokedUs() || endUs <= call.returnedUs(),
          "reported as gone while it lives",
          call,
          end);
    }
    for (Call call : life.refusedPuts) {
      require(
          life.grantedUs > call.invokedUs() || endUs <= call.returnedUs(),
          "refused while the lease lives",
          call,
          end);
    }
  }
}
