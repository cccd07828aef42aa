package io.troupe.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.lease.LeaseChange;
import io.troupe.model.Bytes;
import io.troupe.model.DecodedOperation;
import io.troupe.model.Entry;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.mvcc.Fixture;
import io.troupe.mvcc.InMemoryOrderedStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The order in which messages leave the apply actor, and the end of every pending proposal. */
class ApplyCoreTest {
  private static final NodeId SELF = new NodeId(1);

  private final Map<Long, Operation> operations = new HashMap<>();
  private final List<String> calls = new ArrayList<>();
  private final ApplyCore<String, String> core =
      new ApplyCore<>(
          SELF,
          new StateMachine(new InMemoryOrderedStore(), 0),
          new ApplyCore.Settings(4, 1000),
          new Recorded());

  /** Writes down the calls; an entry's operation is known by its index, which is its id too. */
  private final class Recorded implements ApplyEffects<String, String> {
    @Override
    public DecodedOperation decode(Entry entry) {
      Operation operation = Objects.requireNonNull(operations.get(entry.index()));
      return new DecodedOperation(new RequestId(entry.index()), Requester.ANONYMOUS, operation);
    }

    @Override
    public void operationApplied(Entry entry, DecodedOperation operation, Applied applied) {
      calls.add("applied " + entry.index());
    }

    @Override
    public long pendingEventBytes() {
      return 0;
    }

    @Override
    public void addReply(String caller, Result result, long index, long proposedAt) {
      calls.add("reply to " + caller + " for " + index);
    }

    @Override
    public void appliedIndex(long index) {
      calls.add("applied index " + index);
    }

    @Override
    public void authChanged(Operation.Auth operation, Result result) {
      calls.add("auth changed");
    }

    @Override
    public void rightsChanged() {
      calls.add("rights changed");
    }

    @Override
    public void leasesChanged(List<LeaseChange> changes) {
      calls.add("leases " + changes);
    }

    @Override
    public void stateCaughtUp(long term) {
      calls.add("caught up in term " + term);
    }

    @Override
    public void publishChanges() {
      calls.add("publish");
    }

    @Override
    public void completed(long index) {
      calls.add("completed " + index);
    }

    @Override
    public void sendReplies() {
      calls.add("send replies");
    }

    @Override
    public void readReady(String read) {
      calls.add("ready " + read);
    }

    @Override
    public void compacted(long revision) {
      calls.add("compacted " + revision);
    }

    @Override
    public void snapshotDue(long index, long term) {
      calls.add("snapshot due at " + index + " of term " + term);
    }

    @Override
    public void refused(String caller, Refusal reason) {
      calls.add("refused " + caller + " " + reason);
    }

    @Override
    public void resultUnknown(String caller) {
      calls.add("unknown " + caller);
    }

    @Override
    public void promoted(List<Lease> leases, long term) {
      calls.add("promoted in term " + term + " with " + leases.size() + " leases");
    }

    @Override
    public void demoted() {
      calls.add("demoted");
    }

    @Override
    public void publishDigest(long term, long index, long digest) {
      calls.add("digest of " + index);
    }

    @Override
    public void raiseAlarm(Operation.AlarmActivate alarm) {
      calls.add("alarm");
    }

    @Override
    public void differs(DigestCheck.Difference difference) {
      calls.add("differs");
    }

    @Override
    public void corruptChanged(boolean corrupt, boolean alarmed) {
      calls.add("corrupt " + corrupt);
    }
  }

  private Entry entry(long index, long term, Operation operation) {
    operations.put(index, operation);
    return new Entry(term, index, Entry.Kind.OPERATION, Bytes.EMPTY);
  }

  private static Entry noop(long index, long term) {
    return new Entry(term, index, Entry.Kind.NOOP, Bytes.EMPTY);
  }

  private void expect(long id, String caller, long term) {
    core.expect(new RequestId(id), caller, null, term, 0);
  }

  @Test
  void replyFollowsLeasesEventsAndCompletionOfItsBatch_W16_L4() {
    expect(1, "grant", 1);
    expect(2, "put", 1);
    core.awaitApplied(2, "read");
    core.leading(true, 1);
    calls.clear();
    core.apply(
        List.of(entry(1, 1, new Operation.LeaseGrant(7, 10)), entry(2, 1, Fixture.put("a", "1"))));
    assertThat(calls)
        .containsExactly(
            "applied 1",
            "reply to grant for 1",
            "applied 2",
            "reply to put for 2",
            "applied index 2",
            "leases [Granted[id=7, ttlSeconds=10]]",
            "caught up in term 1",
            "publish",
            "completed 2",
            "send replies",
            "ready read");
  }

  @Test
  void proposalOfEarlierTermIsRefusedAfterFirstEntryOfLaterTerm() {
    core.apply(List.of(noop(1, 1)));
    expect(100, "lost", 1);
    expect(101, "forwarded to the new leader", 2);
    core.apply(List.of(entry(2, 1, Fixture.put("a", "1"))));
    assertThat(calls).noneMatch(call -> call.startsWith("refused"));
    calls.clear();
    core.apply(List.of(noop(3, 2)));
    assertThat(calls)
        .containsExactly(
            "applied index 3", "publish", "completed 3", "send replies", "refused lost NO_LEADER");
  }

  @Test
  void proposalThatIsInLogOfEarlierTermGetsItsResult() {
    core.apply(List.of(noop(1, 1)));
    expect(2, "survivor", 1);
    core.apply(List.of(entry(2, 1, Fixture.put("a", "1")), noop(3, 2)));
    assertThat(calls)
        .contains("reply to survivor for 2")
        .noneMatch(call -> call.startsWith("refused"));
  }

  @Test
  void readWaitsForItsIndexOnly() {
    core.apply(List.of(noop(1, 1)));
    calls.clear();
    core.awaitApplied(1, "now");
    core.awaitApplied(3, "later");
    assertThat(calls).containsExactly("ready now");
    core.apply(List.of(noop(2, 1)));
    assertThat(calls).doesNotContain("ready later");
    core.apply(List.of(noop(3, 1)));
    assertThat(calls).endsWith("ready later");
  }

  @Test
  void snapshotIsDueAfterEachFourEntries() {
    for (int i = 1; i <= 9; i++) {
      core.apply(List.of(noop(i, 2)));
    }
    assertThat(calls.stream().filter(call -> call.startsWith("snapshot due")))
        .containsExactly("snapshot due at 4 of term 2", "snapshot due at 8 of term 2");
  }

  @Test
  void everyWaitingCallerGetsUnknownResultAtTheEnd() {
    expect(5, "first", 1);
    expect(6, "second", 1);
    core.refuse(new RequestId(6), Refusal.NO_LEADER);
    core.stop();
    core.stop();
    assertThat(calls).containsExactly("refused second NO_LEADER", "unknown first");
  }

  @Test
  void callerWhoseEntryNeverComesIsDroppedAfterTwoIntervals() {
    expect(5, "forgotten", 1);
    core.sweep();
    core.apply(List.of(noop(1, 1)));
    core.sweep();
    core.stop();
    assertThat(calls).doesNotContain("unknown forgotten");
  }
}
