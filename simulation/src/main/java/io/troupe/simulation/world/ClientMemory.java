package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.MemoryBudget;
import io.troupe.simulation.history.Answer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The memory of the clients of one run of a member, and their calls, as the gateway counts them.
 * Further clients, which are not simulated, use up the memory at times while there are faults.
 */
final class ClientMemory {
  /** Longer than any client waits. */
  private static final long TIMEOUT_US = 10_000_000;

  /** Longest time in which the connection sends a response. */
  private static final int SENDING_US = 20_000;

  private final MemberRun run;
  private final SimSettings.MemoryLimits limits;
  private final MemoryBudget budget;
  private final MemoryBudget.Share others;
  private final Map<MemoryBudget.Share, MemoryBudget.Holder> streams = new HashMap<>();
  private int calls;

  ClientMemory(MemberRun run) {
    this.run = run;
    this.limits = run.world.settings().memory();
    this.budget = new MemoryBudget(limits.clientBytes(), limits.freeBytes(), limits.countedBytes());
    this.others = budget.share();
  }

  void start() {
    if (limits.isClientMemoryLimited()) {
      otherClients();
    }
  }

  private void otherClients() {
    if (run.world.scheduler().nowUs() >= run.world.settings().faultsUs()) {
      others.shrinkTo(0);
      return;
    }
    long max = limits.clientBytes();
    boolean idle = run.random.nextInt(3) == 0;
    others.shrinkTo(idle ? 0 : max / 2 + run.random.nextLong(max));
    run.process.after(10_000 + run.random.nextInt(200_000), this::otherClients);
  }

  /** A call of a client; {@code reply} receives its outcome once at most. */
  Call open(Consumer<Answer> reply) {
    Call call = new Call(reply);
    run.process.after(TIMEOUT_US, call::timeOut);
    return call;
  }

  /** The memory of a client's watch stream, until {@link #close}. */
  MemoryBudget.Share openStream() {
    MemoryBudget.Holder connection = budget.holder();
    MemoryBudget.Share stream = connection.share();
    streams.put(stream, connection);
    return stream;
  }

  /** A watch stream has stopped. */
  void close(MemoryBudget.Share stream) {
    stream.close();
    streams.remove(stream);
  }

  /** Without calls only the open streams hold memory. */
  void checkReleased() {
    long held = streams.values().stream().mapToLong(MemoryBudget.Holder::held).sum();
    require(calls > 0 || budget.taken() == held, "memory is lost", run.id, budget.taken(), held);
  }

  /** One call: its memory is held until the response is sent. */
  final class Call {
    private final MemoryBudget.Share share = budget.holder().share();
    private final Consumer<Answer> reply;
    private boolean answered;

    private Call(Consumer<Answer> reply) {
      this.reply = reply;
      calls++;
    }

    /** Counts the records of the response. */
    MemoryBudget.Share share() {
      return share;
    }

    void answer(Answer answer) {
      if (!answered) {
        answered = true;
        reply.accept(answer);
        run.process.after(run.random.nextInt(SENDING_US), this::close);
      }
    }

    private void timeOut() {
      if (!answered) {
        answered = true;
        close();
      }
    }

    private void close() {
      calls--;
      share.close();
    }
  }
}
