package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Event;
import io.troupe.model.Operation;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether there is an order of all calls in which each call takes effect between its start
 * and its end, and returns what a plain map would have returned.
 *
 * <p>The search is the one of Wing and Gong, with Lowe's cache of failed states. etcd's revisions
 * leave little to search: an acknowledged write has a known revision, and so has every read. The
 * open choice is which calls without a result, and which ends of leases, made the revisions that no
 * response contains. Written values are unique, so wrong choices are detected soon.
 *
 * @source Wing and Gong 1993; Lowe 2017; etcd surface 2.1 (R1-R7)
 */
public final class LinearizabilityCheck {
  /** Number of guesses after which the search stops. */
  private static final int MAX_GUESSES = 2_000_000;

  /** Result of the check. */
  public enum Verdict {
    /** There is such an order. */
    HOLDS,
    /** The search stopped without a result. */
    UNDECIDED
  }

  private record Failed(KeyModel model, BitSet used) {}

  /** A position in the order at which several calls may have taken effect. */
  private static final class Guess {
    final int depth;
    final List<Integer> options;
    int next;

    Guess(int depth, List<Integer> options) {
      this.depth = depth;
      this.options = options;
    }
  }

  private final LinearizationPoints places;
  private final @Nullable SortedMap<Long, List<Event>> committed;
  private final List<KeyModel> models = new ArrayList<>(List.of(KeyModel.FIRST, KeyModel.FIRST));
  private final BitSet used = new BitSet();
  private final List<Integer> usedAt = new ArrayList<>(List.of(-1, -1));
  private final ArrayDeque<Guess> guesses = new ArrayDeque<>();
  private final Set<Failed> failed = new HashSet<>();
  private @Nullable Violation deepest;
  private int deepestAt;

  private LinearizabilityCheck(
      LinearizationPoints places, @Nullable SortedMap<Long, List<Event>> committed) {
    this.places = places;
    this.committed = committed;
  }

  /**
   * Checks the calls that concern keys.
   *
   * @param calls in any order
   * @param committed the events of each revision in the log, or null to check only with the
   *     clients' results
   * @throws Violation if there is no such order
   */
  public static Verdict check(List<Call> calls, @Nullable SortedMap<Long, List<Event>> committed) {
    LinearizationPoints places = new LinearizationPoints(calls);
    places.checkRealTime();
    return new LinearizabilityCheck(places, committed).search();
  }

  private Verdict search() {
    long last = places.lastRevision();
    long tries = 0;
    long revision = 2;
    checkReads(1);
    while (revision <= last) {
      Violation why = null;
      Call write = places.writeAt(revision);
      if (write != null) {
        why = step(revision, write, -1);
      } else {
        Guess guess = new Guess((int) revision, options(revision));
        guesses.push(guess);
        why = next(guess);
      }
      while (why != null) {
        note(revision, why);
        if (++tries > MAX_GUESSES) {
          return Verdict.UNDECIDED;
        }
        Guess guess = guesses.peek();
        if (guess == null) {
          throw deepest == null ? why : deepest;
        }
        backTo(guess.depth);
        revision = guess.depth;
        why = next(guess);
        if (why != null && guess.next >= guess.options.size()) {
          failed.add(new Failed(models.get(guess.depth - 1), (BitSet) used.clone()));
          guesses.pop();
          note(revision, why);
        }
      }
      revision++;
    }
    return Verdict.HOLDS;
  }

  private void note(long revision, Violation why) {
    if (deepest == null || revision > deepestAt) {
      deepest = why;
      deepestAt = (int) revision;
    }
  }

  private void backTo(int depth) {
    while (models.size() > depth) {
      models.remove(models.size() - 1);
      int call = usedAt.remove(usedAt.size() - 1);
      if (call >= 0) {
        used.clear(call);
      }
    }
  }

  /** Calls without a result that may have made this revision, then ends of leases (as -2 - i). */
  private List<Integer> options(long revision) {
    KeyModel model = models.get((int) revision - 1);
    if (failed.contains(new Failed(model, used))) {
      return List.of();
    }
    List<Integer> options = new ArrayList<>();
    places
        .openCalls()
        .forEach(
            index -> {
              if (!used.get(index) && places.mayTakePlaceAt(index, revision)) {
                options.add(index);
              }
            });
    for (int i = 0; i < model.attachedLeases().size(); i++) {
      options.add(-2 - i);
    }
    return options;
  }

  private @Nullable Violation next(Guess guess) {
    Violation why = new Violation("no call can have made revision " + guess.depth);
    while (guess.next < guess.options.size()) {
      int option = guess.options.get(guess.next++);
      Call call = option >= 0 ? places.call(option) : null;
      Violation failure = step(guess.depth, call, option);
      if (failure == null) {
        return null;
      }
      if (guess.options.size() == 1) {
        why = failure;
      }
    }
    return why;
  }

  /** Takes one step. Returns the violation if it is impossible. */
  private @Nullable Violation step(long revision, @Nullable Call call, int option) {
    KeyModel before = models.get((int) revision - 1);
    KeyModel.Step step =
        call == null
            ? before.end(before.attachedLeases().get(-2 - option))
            : before.apply(operation(call));
    try {
      require(step.changes(), "a write that changes nothing has a revision", revision, call);
      if (call != null && !call.isUnknown()) {
        Result result = ((Answer.Done) call.answer()).result();
        require(agrees(result, step.result()), "wrong result", result, step.result(), call);
      }
      if (committed != null) {
        List<Event> events = committed.get(revision);
        require(step.events().equals(events), "another change", events, step.events(), call);
      }
    } catch (Violation violation) {
      return violation;
    }
    models.add(step.next());
    usedAt.add(option >= 0 ? option : -1);
    if (option >= 0) {
      used.set(option);
    }
    try {
      checkReads(revision);
    } catch (Violation violation) {
      if (option != -1) {
        backTo((int) revision);
      }
      return violation;
    }
    return null;
  }

  /** Returns true if a result is right, as far as it was gathered. */
  private static boolean agrees(Result result, Result right) {
    return result instanceof Result.ResponseTooLarge large
        ? isPart(large.applied(), right)
        : result.equals(right);
  }

  private static boolean isPart(Result part, Result whole) {
    if (part instanceof Result.Put one && whole instanceof Result.Put all) {
      return one.revision() == all.revision()
          && (one.prev() == null || one.prev().equals(all.prev()));
    }
    if (part instanceof Result.DeleteRange one && whole instanceof Result.DeleteRange all) {
      int prevs = one.prevs().size();
      return one.revision() == all.revision()
          && one.deleted() == all.deleted()
          && prevs <= all.prevs().size()
          && one.prevs().equals(all.prevs().subList(0, prevs));
    }
    if (part instanceof Result.Txn one && whole instanceof Result.Txn all) {
      boolean right =
          one.revision() == all.revision()
              && one.succeeded() == all.succeeded()
              && one.responses().size() == all.responses().size();
      for (int i = 0; right && i < one.responses().size(); i++) {
        right = isPart(one.responses().get(i), all.responses().get(i));
      }
      return right;
    }
    return part == Result.NotGathered.INSTANCE || part.equals(whole);
  }

  static Operation operation(Call call) {
    return ((Request.Write) call.request()).operation();
  }

  /** Checks that the reads of this revision returned its content. */
  private void checkReads(long revision) {
    KeyModel model = models.get((int) revision);
    for (LinearizationPoints.Seen seen : places.readsOf(revision)) {
      RangeResult right = model.range(seen.query(), seen.result().revision());
      require(right.equals(seen.result()), "wrong read", seen.result(), right, seen.call());
    }
    for (Call call : places.withoutChangeAt(revision)) {
      Result result = ((Answer.Done) call.answer()).result();
      KeyModel.Step step = model.apply(operation(call));
      require(
          !step.changes() && agrees(result, step.result()),
          "wrong result of a call that changed nothing",
          result,
          step.result(),
          call);
    }
  }
}
