package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The revisions at which calls took effect according to their results, and the check of these
 * revisions against the clock.
 */
final class LinearizationPoints {
  /** A read and its result. */
  record Seen(Call call, RangeQuery query, RangeResult result) {}

  private record Placed(Call call, long revision, boolean write, boolean fresh) {}

  private final List<Call> calls;
  private final Map<Long, Call> writes = new HashMap<>();
  private final Map<Long, List<Seen>> reads = new HashMap<>();
  private final Map<Long, List<Call>> noChanges = new HashMap<>();
  private final List<Integer> open = new ArrayList<>();
  private final Map<Integer, Long> pinned = new HashMap<>();
  private final List<Placed> placed = new ArrayList<>();
  private final List<Long> deadlines = new ArrayList<>();
  private long last = 1;

  LinearizationPoints(List<Call> all) {
    this.calls = all.stream().sorted(Comparator.comparingLong(Call::invokedUs)).toList();
    for (int i = 0; i < calls.size(); i++) {
      place(i, calls.get(i));
    }
    for (Placed each : placed) {
      while (deadlines.size() <= last) {
        deadlines.add(Long.MAX_VALUE);
      }
      int at = (int) each.revision();
      deadlines.set(at, Math.min(deadlines.get(at), each.call().returnedUs()));
    }
    for (int i = deadlines.size() - 2; i >= 0; i--) {
      deadlines.set(i, Math.min(deadlines.get(i), deadlines.get(i + 1)));
    }
  }

  private void place(int index, Call call) {
    if (call.isUnknown()) {
      if (call.request() instanceof Request.Write write && concernsKeys(write.operation())) {
        open.add(index);
      }
      return;
    }
    if (!(call.answer() instanceof Answer.Done done)) {
      return;
    }
    if (call.request() instanceof Request.Read read
        && done.result() instanceof Result.Range range) {
      long header = range.range().revision();
      long at = read.query().revision() <= 0 ? header : read.query().revision();
      require(at <= header, "a read of the future", call);
      reads
          .computeIfAbsent(at, r -> new ArrayList<>())
          .add(new Seen(call, read.query(), range.range()));
      add(call, header, false, !read.serializable());
    } else if (call.request() instanceof Request.Write write) {
      placeWrite(index, call, write.operation(), done.result());
    }
  }

  /**
   * Of a response that was too large the client receives no part. The record has the part that was
   * gathered, because it makes the check stricter.
   */
  private void placeWrite(int index, Call call, Operation operation, Result received) {
    Result result = received instanceof Result.ResponseTooLarge large ? large.applied() : received;
    if (result instanceof Result.Put put) {
      addWrite(call, put.revision());
    } else if (result instanceof Result.DeleteRange delete) {
      addWriteOr(call, delete.revision(), delete.deleted() > 0);
    } else if (result instanceof Result.Txn txn) {
      if (!changes(txn) && txn.responses().contains(Result.NotGathered.INSTANCE)) {
        addPinned(index, call, txn.revision());
      } else {
        addWriteOr(call, txn.revision(), changes(txn));
      }
    } else if (operation instanceof Operation.LeaseRevoke
        && result instanceof Result.LeaseRevoke revoke) {
      addPinned(index, call, revoke.revision());
    } else if (result instanceof Result.LeaseGrant grant) {
      add(call, grant.revision(), false, true);
    } else if (result instanceof Result.Compact compact) {
      add(call, compact.revision(), false, true);
    }
  }

  /** The result does not show whether keys changed. */
  private void addPinned(int index, Call call, long revision) {
    open.add(index);
    pinned.put(index, revision);
    add(call, revision, false, true);
  }

  private static boolean changes(Result.Txn txn) {
    return txn.responses().stream()
        .anyMatch(
            each ->
                each instanceof Result.Put
                    || (each instanceof Result.DeleteRange delete && delete.deleted() > 0));
  }

  private static boolean concernsKeys(Operation operation) {
    return operation instanceof Operation.Put
        || operation instanceof Operation.DeleteRange
        || operation instanceof Operation.Txn
        || operation instanceof Operation.LeaseRevoke;
  }

  private void addWriteOr(Call call, long revision, boolean changed) {
    if (changed) {
      addWrite(call, revision);
    } else {
      noChanges.computeIfAbsent(revision, r -> new ArrayList<>()).add(call);
      add(call, revision, false, true);
    }
  }

  private void addWrite(Call call, long revision) {
    Call other = writes.putIfAbsent(revision, call);
    require(other == null, "two writes made one revision", other, call);
    add(call, revision, true, true);
  }

  private void add(Call call, long revision, boolean write, boolean fresh) {
    placed.add(new Placed(call, revision, write, fresh));
    last = Math.max(last, revision);
  }

  /**
   * A call that started after another one had ended has no earlier revision; a write has a later
   * one. A serializable read returned a revision that existed when it ended.
   */
  void checkRealTime() {
    List<Placed> byEnd =
        placed.stream().sorted(Comparator.comparingLong(p -> p.call().returnedUs())).toList();
    List<Placed> byBegin =
        placed.stream().sorted(Comparator.comparingLong(p -> p.call().invokedUs())).toList();
    int ended = 0;
    Placed newest = null;
    for (Placed each : byBegin) {
      while (ended < byEnd.size()
          && byEnd.get(ended).call().returnedUs() < each.call().invokedUs()) {
        Placed end = byEnd.get(ended++);
        newest = newest == null || end.revision() > newest.revision() ? end : newest;
      }
      if (newest != null && each.fresh()) {
        require(
            each.revision() >= newest.revision() + (each.write() ? 1 : 0),
            each.write() ? "a later write has an earlier revision" : "stale read",
            each,
            newest);
      }
    }
    checkRefusedReads(byEnd);
  }

  /**
   * The refusal of a read of a future revision is correct only if no earlier call had returned that
   * revision.
   */
  private void checkRefusedReads(List<Placed> byEnd) {
    for (Call call : calls) {
      if (call.request() instanceof Request.Read read
          && !read.serializable()
          && call.answer() instanceof Answer.Done done
          && done.result() instanceof Result.Refused refused
          && refused.reason() == Refusal.FUTURE_REVISION) {
        for (Placed each : byEnd) {
          if (each.call().returnedUs() >= call.invokedUs()) {
            break;
          }
          require(each.revision() < read.query().revision(), "stale refusal of a read", call, each);
        }
      }
    }
  }

  long lastRevision() {
    return last;
  }

  @Nullable Call writeAt(long revision) {
    return writes.get(revision);
  }

  List<Seen> readsOf(long revision) {
    return reads.getOrDefault(revision, List.of());
  }

  List<Call> withoutChangeAt(long revision) {
    return noChanges.getOrDefault(revision, List.of());
  }

  List<Integer> openCalls() {
    return open;
  }

  Call call(int index) {
    return calls.get(index);
  }

  /** Returns true if the call had started before any call returned this revision or a later one. */
  boolean mayTakePlaceAt(int index, long revision) {
    Long only = pinned.get(index);
    return only == null
        ? calls.get(index).invokedUs() <= deadlines.get((int) revision)
        : only == revision;
  }
}
