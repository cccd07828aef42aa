package io.troupe.simulation.client;

import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Makes the calls of one client: one call at a time, with a timeout, never repeated. Records every
 * call when it ends.
 */
final class Caller {
  private final SimWorld world;
  private final SplittableRandom random;
  private int open;

  Caller(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
  }

  /** True while a call is in progress. */
  boolean isBusy() {
    return open > 0;
  }

  /** A random member whose process runs or ran before. */
  SimMember anyMember() {
    List<SimMember> started = world.members().stream().filter(SimMember::isStarted).toList();
    return started.get(random.nextInt(started.size()));
  }

  /** The leader if there is one, else a random member. */
  SimMember leaderOrAny() {
    SimMember leader = world.leader();
    return leader == null || random.nextInt(10) == 0 ? anyMember() : leader;
  }

  /**
   * Makes a call. {@code then} receives the outcome once, {@link Answer.Unknown} after the timeout.
   */
  void call(SimMember member, Request request, Consumer<Call> then) {
    call(member, request, 200_000 + random.nextLong(3_000_000), then);
  }

  void call(SimMember member, Request request, long timeoutUs, Consumer<Call> then) {
    new Pending(member.session(), request, then).start(member, timeoutUs);
  }

  private final class Pending {
    private final long session;
    private final Request request;
    private final Consumer<Call> then;
    private final long invokedUs = world.scheduler().nowUs();
    private boolean ended;

    Pending(long session, Request request, Consumer<Call> then) {
      this.session = session;
      this.request = request;
      this.then = then;
    }

    void start(SimMember member, long timeoutUs) {
      open++;
      world.call(member, request, this::onAnswer);
      world.scheduler().after(timeoutUs, () -> end(Call.NEVER, Answer.Unknown.INSTANCE));
    }

    private void onAnswer(Answer answer) {
      end(answer instanceof Answer.Unknown ? Call.NEVER : world.scheduler().nowUs(), answer);
    }

    private void end(long returnedUs, Answer answer) {
      if (ended) {
        return;
      }
      ended = true;
      open--;
      Call call = new Call(session, request, invokedUs, returnedUs, answer);
      world.history().add(call);
      world.trace().note(null, "call", call);
      world
          .coverage()
          .count(
              answer instanceof Answer.Unknown
                  ? "calls without an answer"
                  : answer instanceof Answer.Refused ? "calls refused" : "calls answered");
      then.accept(call);
    }
  }
}
