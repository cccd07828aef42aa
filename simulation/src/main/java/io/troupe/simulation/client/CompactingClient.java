package io.troupe.simulation.client;

import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import java.util.SplittableRandom;

/** Compacts every 100 to 200 ms, at a random one of the last revisions. */
public final class CompactingClient {
  private final SimWorld world;
  private final SplittableRandom random;
  private final Caller caller;
  private boolean stopped;

  /** Creates a client of a cluster. */
  public CompactingClient(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
    this.caller = new Caller(world, random.split());
  }

  /** Starts. */
  public void start() {
    world
        .scheduler()
        .after(
            100_000 + random.nextLong(100_000),
            () -> {
              if (!stopped) {
                one();
              }
            });
  }

  /** Stops compacting. */
  public void stop() {
    stopped = true;
  }

  /** True while a call is in progress. */
  public boolean isBusy() {
    return caller.isBusy();
  }

  private void one() {
    SimMember member = caller.anyMember();
    long lag = random.nextInt(3) == 0 ? random.nextInt(10) : random.nextInt(250);
    long revision = member.revision() - lag;
    if (revision < 1) {
      start();
      return;
    }
    caller.call(
        member,
        new Request.Write(new Operation.Compact(revision)),
        call -> {
          if (call.answer() instanceof Answer.Done done
              && done.result() instanceof Result.Compact) {
            world.coverage().count("compactions");
          }
          start();
        });
  }
}
