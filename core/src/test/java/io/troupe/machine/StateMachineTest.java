package io.troupe.machine;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.lease.LeaseChange;
import io.troupe.model.AlarmMember;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.Invariant;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.Fixture;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StateMachineTest {
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId HIGH = new NodeId(-2);
  private static final Result NO_SPACE = new Result.Refused(Refusal.NO_SPACE);
  private static final Result CORRUPT = new Result.Refused(Refusal.CORRUPT);

  private final Fixture fixture = new Fixture();

  private Operation.Txn txn(Operation.TxnOp op) {
    return new Operation.Txn(List.of(), List.of(op), List.of());
  }

  @Test
  void entriesAreAppliedOnceWithoutGaps() {
    StateMachine machine = fixture.machine;
    machine.apply(1, 1, put("a", "1"));
    assertThatThrownBy(() -> machine.apply(1, 1, put("a", "2")))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> machine.apply(3, 1, put("a", "2")))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> machine.noop(3, 1)).isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> machine.noop(2, 0)).isInstanceOf(Invariant.Broken.class);
    assertThat(machine.currentRevision()).isEqualTo(2);
    machine.noop(2, 1);
    assertThat(machine.appliedIndex()).isEqualTo(2);
  }

  @Test
  void uncommittedEntriesAreInvisibleAndLostAtRestart() {
    fixture.apply(put("a", "1"));
    StateMachine before = fixture.machine;
    before.apply(2, 4, put("a", "2"));
    assertThat(before.currentRevision()).isEqualTo(3);
    assertThat(before.reader().view().revision()).isEqualTo(2);
    assertThat(before.view().appliedIndex()).isEqualTo(1);
    StateMachine after = new StateMachine(fixture.store, 0);
    assertThat(after.appliedIndex()).isEqualTo(1);
    assertThat(after.currentRevision()).isEqualTo(2);
    after.apply(2, 4, put("a", "2"));
    after.commit();
    assertThat(after.view().appliedTerm()).isEqualTo(4);
    assertThat(after.reader().get(key("a")))
        .isEqualTo(new KeyValue(key("a"), 2, 3, 2, key("2"), 0));
    assertThat(before.reader().get(key("a")))
        .isEqualTo(new KeyValue(key("a"), 2, 2, 1, key("1"), 0));
  }

  @Test
  void appliedIndexIsWrittenWithItsData() {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    StateMachine machine = new StateMachine(store, 0);
    for (int i = 1; i <= 20; i++) {
      machine.apply(i, 1, put("k" + i, "v"));
      machine.commit();
      // A crash preserves a state between two batches, in which index and data agree.
      StateMachine recovered = new StateMachine(store.copy(), 0);
      assertThat(recovered.appliedIndex()).isEqualTo(i);
      assertThat(recovered.currentRevision()).isEqualTo(i + 1L);
      assertThat(recovered.reader().view().appliedIndex()).isEqualTo(i);
    }
  }

  @Test
  void startRejectsRevisionBelowStoredChanges() {
    fixture.apply(put("a", "1"));
    StoreBatch batch = new StoreBatch();
    batch.delete(Space.LATEST, Bytes.EMPTY);
    fixture.store.write(batch);
    assertThatThrownBy(() -> new StateMachine(fixture.store, 0))
        .isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void revokeDeletesAttachedKeysInKeyOrderInOneRevision_L9_R3() {
    fixture.apply(new Operation.LeaseGrant(5, 10));
    fixture.apply(put("b", "1", 5));
    fixture.apply(put("a", "1", 5));
    fixture.apply(put("c", "1", 5));
    fixture.apply(put("c", "2"));
    Applied revoked = fixture.apply(new Operation.LeaseRevoke(5));
    assertThat(revoked.result()).isEqualTo(new Result.LeaseRevoke(6));
    assertThat(revoked.leaseChanges()).containsExactly(new LeaseChange.Revoked(5));
    assertThat(revoked.events())
        .extracting(event -> event.kv().key().utf8())
        .containsExactly("a", "b");
    assertThat(revoked.events()).allMatch(event -> event.type() == Event.Type.DELETE);
    assertThat(fixture.result(new Operation.LeaseRevoke(5)))
        .isEqualTo(new Result.Refused(Refusal.LEASE_NOT_FOUND));
    fixture.apply(new Operation.LeaseGrant(5, 10));
    assertThat(fixture.apply(new Operation.LeaseRevoke(5)).revision()).isEqualTo(6);
  }

  private static Operation checkpoint(Remaining... leases) {
    return new Operation.LeaseCheckpoint(List.of(leases));
  }

  @Test
  void leasesSurviveRestart_L12() {
    Applied granted = fixture.apply(new Operation.LeaseGrant(-5, 10));
    assertThat(granted.leaseChanges()).containsExactly(new LeaseChange.Granted(-5, 10));
    assertThat(granted.result()).isEqualTo(new Result.LeaseGrant(1, -5, 10));
    fixture.apply(put("a", "1", -5));
    fixture.apply(new Operation.LeaseGrant(6, 10));
    Applied noted = fixture.apply(checkpoint(new Remaining(-5, 4), new Remaining(6, 3)));
    assertThat(noted.leaseChanges())
        .containsExactly(new LeaseChange.Checkpointed(-5, 4), new LeaseChange.Checkpointed(6, 3));
    assertThat(noted.revision()).as("no key was touched").isEqualTo(2);
    Applied forgotten = fixture.apply(checkpoint(new Remaining(9, 4), new Remaining(6, 0)));
    assertThat(forgotten.leaseChanges())
        .as("no checkpoint of a revoked lease")
        .containsExactly(new LeaseChange.Checkpointed(6, 0));
    StateMachine machine = new StateMachine(fixture.store, 0);
    assertThat(machine.leases().find(6)).isEqualTo(new Lease(6, 10, 0));
    assertThat(machine.leases().find(-5)).isEqualTo(new Lease(-5, 10, 4));
    assertThat(machine.reader().leases())
        .containsExactlyInAnyOrder(new Lease(-5, 10, 4), new Lease(6, 10, 0));
    assertThat(machine.reader().attachedKeys(-5)).containsExactly(key("a"));
  }

  @Test
  void deletionAndNewLeaseDetach_D2_P4_L15() {
    fixture.apply(new Operation.LeaseGrant(1, 10));
    fixture.apply(new Operation.LeaseGrant(2, 10));
    fixture.apply(put("a", "1", 1));
    fixture.apply(put("a", "1", 2));
    assertThat(fixture.machine.reader().attachedKeys(1)).isEmpty();
    assertThat(fixture.machine.reader().attachedKeys(2)).containsExactly(key("a"));
    fixture.apply(delete(one("a")));
    assertThat(fixture.machine.reader().attachedKeys(2)).isEmpty();
    assertThat(fixture.machine.leases().contains(2)).isTrue();
  }

  @Test
  void alarmsAreKeptByMemberAndType_MT3() {
    AlarmMember high = new AlarmMember(HIGH, AlarmType.NOSPACE);
    AlarmMember one = new AlarmMember(ONE, AlarmType.CORRUPT);
    assertThat(alarms(new Operation.AlarmActivate(HIGH, AlarmType.NOSPACE))).containsExactly(high);
    assertThat(alarms(new Operation.AlarmActivate(HIGH, AlarmType.NOSPACE))).containsExactly(high);
    assertThat(alarms(new Operation.AlarmActivate(ONE, AlarmType.NONE))).isEmpty();
    assertThat(alarms(new Operation.AlarmActivate(ONE, AlarmType.CORRUPT))).containsExactly(one);
    assertThat(alarms(new Operation.AlarmGet(AlarmType.NONE))).containsExactly(one, high);
    assertThat(alarms(new Operation.AlarmGet(AlarmType.NOSPACE))).containsExactly(high);
    assertThat(new StateMachine(fixture.store, 0).view().alarms()).containsExactly(one, high);
    assertThat(alarms(new Operation.AlarmDeactivate(ONE, AlarmType.NOSPACE))).isEmpty();
    assertThat(alarms(new Operation.AlarmDeactivate(ONE, AlarmType.CORRUPT))).containsExactly(one);
    assertThat(fixture.machine.view().alarms()).containsExactly(high);
    assertThat(fixture.machine.currentRevision()).isEqualTo(1);
  }

  private List<AlarmMember> alarms(Operation operation) {
    return ((Result.Alarms) fixture.result(operation)).alarms();
  }

  @Test
  void noSpaceAlarmRejectsGrowingRequests_Q2_D4_C7() {
    fixture.apply(put("a", "1"));
    fixture.apply(new Operation.LeaseGrant(5, 10));
    fixture.apply(new Operation.AlarmActivate(ONE, AlarmType.NOSPACE));
    assertThat(fixture.result(put("a", "2"))).isEqualTo(NO_SPACE);
    assertThat(fixture.result(new Operation.LeaseGrant(6, 10))).isEqualTo(NO_SPACE);
    assertThat(fixture.result(txn(put("a", "2")))).isEqualTo(NO_SPACE);
    assertThat(fixture.result(txn(delete(one("x"))))).isInstanceOf(Result.Txn.class);
    assertThat(fixture.result(new Operation.LeaseRevoke(5))).isEqualTo(new Result.LeaseRevoke(2));
    assertThat(fixture.result(delete(one("a")))).isInstanceOf(Result.DeleteRange.class);
    assertThat(fixture.result(new Operation.Compact(3))).isEqualTo(new Result.Compact(3));
    fixture.apply(new Operation.AlarmDeactivate(ONE, AlarmType.NOSPACE));
    assertThat(fixture.result(put("a", "2"))).isInstanceOf(Result.Put.class);
  }

  @Test
  void corruptAlarmRejectsAllChangesAndTakesPrecedence_Q4() {
    fixture.apply(new Operation.LeaseGrant(5, 10));
    fixture.apply(new Operation.AlarmActivate(ONE, AlarmType.NOSPACE));
    fixture.apply(new Operation.AlarmActivate(HIGH, AlarmType.CORRUPT));
    assertThat(fixture.result(put("a", "2"))).isEqualTo(CORRUPT);
    assertThat(fixture.result(delete(one("a")))).isEqualTo(CORRUPT);
    assertThat(fixture.result(txn(delete(one("x"))))).isEqualTo(CORRUPT);
    assertThat(fixture.result(new Operation.Compact(0))).isEqualTo(CORRUPT);
    assertThat(fixture.result(new Operation.LeaseGrant(6, 10))).isEqualTo(CORRUPT);
    assertThat(fixture.result(new Operation.LeaseRevoke(5))).isEqualTo(CORRUPT);
    assertThat(fixture.machine.leases().contains(5)).isTrue();
    assertThat(fixture.machine.reader().range(RangeQuery.of(KeyRange.all(), 0)))
        .isInstanceOf(Result.Range.class);
  }

  /** An entry as the leader creates it from {@code changes}. */
  private ConfEntry entry(ConfChange... changes) {
    Membership before = fixture.machine.view().membership();
    List<ConfChange> all = List.of(changes);
    return new ConfEntry(null, all, before.after(all, fixture.machine.appliedIndex() + 1));
  }

  private void confChange(ConfEntry entry) {
    fixture.machine.confChange(fixture.machine.appliedIndex() + 1, 1, entry);
    fixture.machine.commit();
  }

  private void settle() {
    while (!fixture.machine.view().membership().isTransitionComplete()) {
      confChange(
          ConfEntry.following(
              fixture.machine.view().membership(), fixture.machine.appliedIndex() + 1));
    }
  }

  @Test
  void publishedAttributesAreKept_M3() {
    confChange(
        entry(
            new ConfChange(ConfChange.Kind.ADD_VOTER, HIGH, List.of("http://p:1", "http://p:2")),
            new ConfChange(ConfChange.Kind.ADD_LEARNER, ONE, List.of())));
    fixture.apply(new Operation.PublishMember(HIGH, "last", List.of("http://h:1", "http://h:2")));
    fixture.apply(new Operation.PublishMember(ONE, "first", List.of()));
    StateView view = new StateMachine(fixture.store, 0).view();
    assertThat(view).isEqualTo(fixture.machine.view());
    assertThat(view.appliedIndex()).isEqualTo(3);
    assertThat(view.membership())
        .isEqualTo(new Membership(1, Set.of(HIGH), Set.of(ONE), Set.of(), Set.of(), Set.of()));
    assertThat(view.peerUrls())
        .isEqualTo(Map.of(HIGH, List.of("http://p:1", "http://p:2"), ONE, List.of()));
    assertThat(view.members().values())
        .containsExactly(
            new MemberAttributes(ONE, "first", List.of()),
            new MemberAttributes(HIGH, "last", List.of("http://h:1", "http://h:2")));
  }

  @Test
  void membershipIsVisibleAfterCommit() {
    fixture.machine.confChange(
        1, 1, entry(new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of("http://a"))));
    assertThat(fixture.machine.view().membership()).isEqualTo(Membership.EMPTY);
    fixture.machine.commit();
    assertThat(fixture.machine.view().membership().voters()).containsExactly(ONE);
  }

  @Test
  void updatesChangeAddresses_M7() {
    confChange(entry(new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of("http://a"))));
    confChange(entry(new ConfChange(ConfChange.Kind.UPDATE, ONE, List.of("http://b"))));
    assertThat(fixture.machine.view().peerUrls()).isEqualTo(Map.of(ONE, List.of("http://b")));
    assertThat(new StateMachine(fixture.store, 0).view()).isEqualTo(fixture.machine.view());
  }

  @Test
  void onlyIdOfRemovedMemberIsKept_M6() {
    confChange(
        entry(
            new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of("http://a")),
            new ConfChange(ConfChange.Kind.ADD_VOTER, HIGH, List.of("http://b"))));
    settle();
    fixture.apply(new Operation.PublishMember(ONE, "one", List.of("http://c")));
    fixture.apply(new Operation.PublishMember(HIGH, "high", List.of("http://d")));
    confChange(entry(new ConfChange(ConfChange.Kind.REMOVE, HIGH)));
    assertThat(fixture.machine.view().peerUrls()).as("still needed").containsKey(HIGH);
    settle();
    fixture.apply(new Operation.PublishMember(HIGH, "high", List.of("http://late")));
    StateView view = fixture.machine.view();
    assertThat(view.peerUrls()).containsOnlyKeys(ONE);
    assertThat(view.members()).containsOnlyKeys(ONE);
    assertThat(view.membership().removed()).containsExactly(HIGH);
    assertThat(new StateMachine(fixture.store, 0).view()).isEqualTo(view);
  }

  @Test
  void membershipOfAnotherEntryIsRejectedBeforeAnyChange() {
    ConfEntry entry = entry(new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of()));
    fixture.machine.noop(1, 1);
    assertThatThrownBy(() -> fixture.machine.confChange(2, 1, entry))
        .isInstanceOf(Invariant.Broken.class);
    fixture.machine.commit();
    assertThat(fixture.machine.view().membership()).isEqualTo(Membership.EMPTY);
    assertThat(fixture.machine.appliedIndex()).isEqualTo(1);
  }
}
