package io.troupe.simulation.client;

import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Requests a lease, writes with it, renews it for a while, and lets it expire or revokes it. In
 * busy times, which all owners have in common, some owners renew without a pause, each at one
 * member.
 */
public final class LeaseOwner {
  private static final long BUSY_EVERY_US = 1_500_000;
  private static final long BUSY_US = 40_000;

  private final SimWorld world;
  private final SplittableRandom random;
  private final Requests requests;
  private final Caller caller;
  private long lease;
  private long ttlSeconds;
  private long renewAfterUs;
  private long untilUs;

  /** Renews in busy times. */
  private boolean eager;

  /** Member of the last renewal. */
  private @Nullable SimMember renewedAt;

  private boolean stopped;

  /** Creates an owner. {@code name} makes its values unique. */
  public LeaseOwner(SimWorld world, SplittableRandom random, String name) {
    this.world = world;
    this.random = random;
    this.requests = new Requests(random.split(), name);
    this.caller = new Caller(world, random.split());
  }

  /** Starts. */
  public void start() {
    later(random.nextLong(500_000), this::grant);
  }

  /** Stops requesting and renewing leases. */
  public void stop() {
    stopped = true;
  }

  /** True while a call is in progress. */
  public boolean isBusy() {
    return caller.isBusy();
  }

  private void later(long us, Runnable action) {
    world
        .scheduler()
        .after(
            us,
            () -> {
              if (!stopped) {
                action.run();
              }
            });
  }

  private void grant() {
    lease = 1 + random.nextLong(Long.MAX_VALUE - 1);
    ttlSeconds = 2L + random.nextInt(4);
    // Some owners renew late each time: much of the time has passed, and is checkpointed, when they
    // renew.
    renewAfterUs = ttlSeconds * (random.nextBoolean() ? 300_000 : 700_000);
    untilUs = world.scheduler().nowUs() + random.nextLong(12_000_000);
    eager = random.nextBoolean();
    caller.call(
        caller.anyMember(),
        new Request.Write(new Operation.LeaseGrant(lease, ttlSeconds)),
        call -> {
          boolean granted =
              call.answer() instanceof Answer.Done done
                  && done.result() instanceof Result.LeaseGrant;
          if (granted) {
            world.coverage().count("leases granted");
            later(0, this::query);
          } else {
            start();
          }
        });
  }

  /** The leader may have applied the grant later than the member that replied to it. */
  private void query() {
    caller.call(caller.leaderOrAny(), new Request.TimeToLive(lease), call -> later(0, this::write));
  }

  private void write() {
    caller.call(
        caller.anyMember(),
        new Request.Write(requests.put(lease)),
        call -> later(untilRenewalUs(), this::renew));
  }

  /** Time until the next renewal. */
  private long untilRenewalUs() {
    if (!eager) {
      return renewAfterUs;
    }
    if (isBusyTime()) {
      return random.nextLong(300);
    }
    long sinceBusyUs = world.scheduler().nowUs() % BUSY_EVERY_US;
    return Math.min(renewAfterUs, BUSY_EVERY_US - sinceBusyUs + random.nextLong(BUSY_US / 4));
  }

  private boolean isBusyTime() {
    return world.scheduler().nowUs() % BUSY_EVERY_US < BUSY_US;
  }

  /** A member that does not lead forwards the renewal. */
  private SimMember renewingMember() {
    SimMember last = renewedAt;
    if (eager && last != null && isBusyTime() && random.nextInt(20) != 0) {
      return last;
    }
    SimMember next = random.nextBoolean() ? caller.anyMember() : caller.leaderOrAny();
    renewedAt = next;
    return next;
  }

  private void renew() {
    if (world.scheduler().nowUs() > untilUs) {
      finish();
      return;
    }
    caller.call(
        renewingMember(),
        new Request.KeepAlive(lease),
        call -> {
          if (call.answer() instanceof Answer.Renewed renewed && renewed.ttlSeconds() == 0) {
            world.coverage().count("owners told that their lease is gone");
            start();
          } else if (random.nextInt(eager ? 40 : 4) == 0) {
            later(0, this::write);
          } else {
            boolean renewed = call.answer() instanceof Answer.Renewed;
            later(renewed ? untilRenewalUs() : 100_000, this::renew);
          }
        });
  }

  private void finish() {
    if (random.nextBoolean()) {
      start();
      return;
    }
    caller.call(
        caller.anyMember(),
        new Request.Write(new Operation.LeaseRevoke(lease)),
        call -> {
          world.coverage().count("leases revoked by their owner");
          start();
        });
  }
}
