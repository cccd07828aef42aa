package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.lease.LeaseCountdown;
import io.troupe.lease.VouchedTime;
import io.troupe.machine.LeaseChange;
import io.troupe.model.Lease;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.simulation.history.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Counts leases down while this member leads. A renewal is answered only after the leadership was
 * confirmed since it came: an old leader must not promise time that the new one does not know of.
 */
final class LeaseRoom {
  private static final long CHECK_US = 500_000;
  private static final long MAX_GAP_MS = 1000;
  private static final long ELECTION_MS = 1000;
  private static final int EXPIRED_PER_CHECK = 500;

  /** The countdown's clock has whole milliseconds. */
  private static final long ROUNDING_US = 2_000;

  private final MemberRun run;
  private final Room room;
  private final LeaseCountdown countdown = new LeaseCountdown();
  private final VouchedTime time = new VouchedTime(MAX_GAP_MS);
  private final Map<Long, Long> ttls = new HashMap<>();
  private final TreeMap<Long, List<Consumer<Answer>>> ending = new TreeMap<>();

  /** When the time of a lease last began here, by the clock of the world. */
  private final Map<Long, Long> beganUs = new HashMap<>();

  private boolean leading;

  LeaseRoom(MemberRun run) {
    this.run = run;
    this.room = run.room();
  }

  void start() {
    run.process.after(run.random.nextLong(CHECK_US), this::check);
  }

  private void passTime() {
    countdown.advance(time.elapsedMs(run.process.clockMs()));
  }

  // ---- messages

  void keepAlive(long lease, Consumer<Answer> reply) {
    room.tell(
        () -> {
          if (!leading) {
            reply.accept(new Answer.Refused(Refusal.NO_LEADER));
            return;
          }
          run.readIndex(
              new MemberRun.ReadIndexWaiter() {
                @Override
                public void ready(long index) {
                  room.tell(() -> renew(lease, reply));
                }

                @Override
                public void failed(Refusal reason) {
                  reply.accept(new Answer.Refused(reason));
                }
              });
        });
  }

  private void renew(long lease, Consumer<Answer> reply) {
    if (!leading) {
      reply.accept(new Answer.Refused(Refusal.NO_LEADER));
      return;
    }
    passTime();
    switch (countdown.renew(lease)) {
      case RENEWED -> {
        beganUs.put(lease, run.world.scheduler().nowUs());
        run.world.coverage().count("leases renewed");
        reply.accept(new Answer.Renewed(ttls.getOrDefault(lease, 0L)));
      }
      case UNKNOWN -> reply.accept(new Answer.Renewed(0));
      case EXPIRED -> ending.computeIfAbsent(lease, id -> new ArrayList<>()).add(reply);
    }
  }

  void changed(List<LeaseChange> changes) {
    room.tell(
        () -> {
          passTime();
          changes.forEach(this::changed);
        });
  }

  private void changed(LeaseChange change) {
    if (change instanceof LeaseChange.Granted granted) {
      ttls.put(granted.id(), granted.ttlSeconds());
      if (leading) {
        countdown.granted(granted.id(), granted.ttlSeconds());
        beganUs.put(granted.id(), run.world.scheduler().nowUs());
      }
    } else if (change instanceof LeaseChange.Revoked revoked) {
      ttls.remove(revoked.id());
      countdown.revoked(revoked.id());
      List<Consumer<Answer>> waiting = ending.remove(revoked.id());
      if (waiting != null) {
        waiting.forEach(reply -> reply.accept(new Answer.Renewed(0)));
      }
    }
  }

  void promoted(List<Lease> leases) {
    room.tell(
        () -> {
          passTime();
          leading = true;
          note(leases);
          countdown.promote(leases, ELECTION_MS);
          beganUs.clear();
          leases.forEach(lease -> beganUs.put(lease.id(), run.world.scheduler().nowUs()));
          run.world.coverage().count("leases taken over by a leader", leases.size());
        });
  }

  private void note(List<Lease> leases) {
    ttls.clear();
    leases.forEach(lease -> ttls.put(lease.id(), lease.ttlSeconds()));
  }

  void demoted() {
    room.tell(
        () -> {
          leading = false;
          countdown.demote();
          ending.values().forEach(w -> w.forEach(r -> r.accept(lost())));
          ending.clear();
        });
  }

  private static Answer lost() {
    return new Answer.Refused(Refusal.LEADER_CHANGED);
  }

  /** A snapshot brought other leases; a member that gets one does not lead. */
  void replaced(List<Lease> leases) {
    room.tell(() -> note(leases));
  }

  private void check() {
    passTime();
    if (leading) {
      for (long lease : countdown.takeExpired(EXPIRED_PER_CHECK)) {
        long began = beganUs.getOrDefault(lease, 0L);
        long promised = ttls.getOrDefault(lease, 0L) * 1_000_000;
        require(
            run.process.ranUs(began) + ROUNDING_US >= promised,
            "a lease ran out in less time than the member ran",
            run.id,
            lease,
            run.process.ranUs(began),
            promised);
        run.world.coverage().count("lease expiries proposed");
        run.propose(new Operation.LeaseRevoke(lease), answer -> {});
      }
    }
    run.process.after(CHECK_US + run.random.nextInt(2_000), this::check);
  }
}
