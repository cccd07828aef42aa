package io.troupe.simulation.check;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.Comparator;
import java.util.List;

/**
 * Checks that reads of a compacted revision are refused once the compaction was acknowledged, and
 * that no read is refused as compacted without a requested compaction.
 *
 * @source etcd surface 2.8 (C1-C3)
 */
public final class CompactionCheck {
  private CompactionCheck() {}

  /**
   * Checks all reads of earlier revisions, and compactions among each other.
   *
   * @throws Violation if a result is wrong
   */
  public static void check(List<Call> calls) {
    List<Call> compactions =
        calls.stream()
            .filter(CompactionCheck::isCompaction)
            .sorted(Comparator.comparingLong(Call::invokedUs))
            .toList();
    for (Call call : calls) {
      if (call.request() instanceof Request.Read read && read.query().revision() > 0) {
        checkRead(call, read.query().revision(), !read.serializable(), compactions);
      }
    }
    for (Call call : compactions) {
      if (isDone(call) && !(result(call) instanceof Result.Refused)) {
        for (Call other : compactions) {
          require(
              !isAccepted(other)
                  || other.returnedUs() >= call.invokedUs()
                  || revision(other) < revision(call),
              "compacted twice",
              other,
              call);
        }
      }
    }
  }

  private static void checkRead(Call read, long revision, boolean fresh, List<Call> compactions) {
    if (!isDone(read)) {
      return;
    }
    boolean refused =
        result(read) instanceof Result.Refused refusal && refusal.reason() == Refusal.COMPACTED;
    boolean cause = false;
    for (Call compaction : compactions) {
      if (revision(compaction) > revision) {
        cause |= compaction.invokedUs() <= read.returnedUs();
        require(
            refused
                || !fresh
                || !isAccepted(compaction)
                || compaction.returnedUs() >= read.invokedUs(),
            "a compacted revision was read",
            read,
            compaction);
      }
    }
    require(!refused || cause, "refused as compacted without a compaction", read);
  }

  private static boolean isCompaction(Call call) {
    return call.request() instanceof Request.Write write
        && write.operation() instanceof Operation.Compact;
  }

  private static boolean isAccepted(Call compaction) {
    return isDone(compaction) && result(compaction) instanceof Result.Compact;
  }

  private static boolean isDone(Call call) {
    return call.answer() instanceof Answer.Done;
  }

  private static Result result(Call call) {
    return ((Answer.Done) call.answer()).result();
  }

  private static long revision(Call compaction) {
    return ((Operation.Compact) ((Request.Write) compaction.request()).operation()).revision();
  }
}
