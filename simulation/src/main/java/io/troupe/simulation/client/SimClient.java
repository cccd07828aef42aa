package io.troupe.simulation.client;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Reads and writes, one call after the other, with a random think time. */
public final class SimClient {
  private final SimWorld world;
  private final SplittableRandom random;
  private final Requests requests;
  private final Caller caller;
  private SimMember member;
  private long seen = 1;
  private Bytes lastKey = Requests.key(0);
  private long lastMod;
  private boolean stopped;

  /** Creates a client. {@code name} makes its values unique. */
  public SimClient(SimWorld world, SplittableRandom random, String name) {
    this.world = world;
    this.random = random;
    this.requests = new Requests(random.split(), name);
    this.caller = new Caller(world, random.split());
    this.member = caller.anyMember();
  }

  /** Starts. */
  public void start() {
    world
        .scheduler()
        .after(
            random.nextLong(world.settings().thinkUs()),
            () -> {
              if (!stopped) {
                one();
              }
            });
  }

  /** Stops making calls. */
  public void stop() {
    stopped = true;
  }

  /** True while a call is in progress. */
  public boolean isBusy() {
    return caller.isBusy();
  }

  private void one() {
    if (random.nextInt(15) == 0) {
      member = caller.anyMember();
    }
    caller.call(
        member,
        requests.next(seen, lastKey, lastMod),
        call -> {
          note(call);
          if (!(call.answer() instanceof Answer.Done)) {
            member = caller.anyMember();
          }
          start();
        });
  }

  private void note(Call call) {
    if (!(call.answer() instanceof Answer.Done done)) {
      return;
    }
    if (done.result() instanceof Result.Range range) {
      seen = Math.max(seen, range.range().revision());
      for (KeyValue kv : range.range().kvs()) {
        if (random.nextBoolean()) {
          lastKey = kv.key();
          lastMod = kv.modRevision();
        }
      }
    } else if (done.result() instanceof Result.Put put) {
      seen = Math.max(seen, put.revision());
    }
  }

  /**
   * Writes through a member and reads there, with a long timeout.
   *
   * @param then receives the write if it failed, or else the read
   */
  public void probe(SimMember where, Consumer<Call> then) {
    Request.Write put = new Request.Write(requests.put(0));
    caller.call(
        where,
        put,
        8_000_000,
        written -> {
          if (!(written.answer() instanceof Answer.Done)) {
            then.accept(written);
            return;
          }
          Request.Read read = new Request.Read(RangeQuery.of(KeyRange.all(), 0), false);
          caller.call(where, read, 8_000_000, then);
        });
  }
}
