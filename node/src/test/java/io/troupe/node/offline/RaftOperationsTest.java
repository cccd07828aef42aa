package io.troupe.node.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Message;
import io.troupe.etcd.MemberChange;
import io.troupe.etcd.RaftRequest;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.LeaseCheckpoint;
import io.troupe.grpc.api.LeaseCheckpointRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Requester;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Requests of etcd's log that the recorded data directories do not contain. */
class RaftOperationsTest {
  private static RaftOperations.Requested translated(int kind, Message body) {
    RaftRequest request = new RaftRequest("clerk", 7, kind, Bytes.wrap(body.toByteArray()), null);
    return Objects.requireNonNull(RaftOperations.of(request));
  }

  @Test
  void requesterIsKept() {
    RaftOperations.Requested put = translated(4, PutRequest.newBuilder().setLease(3).build());
    assertThat(put.requester()).isEqualTo(new Requester.User("clerk", 7));
    assertThat(put.operation())
        .isEqualTo(new Operation.Put(Bytes.EMPTY, Bytes.EMPTY, 3, false, false, false));
  }

  @Test
  void alarmsHaveNoRequester() {
    RaftOperations.Requested alarm =
        translated(
            10,
            AlarmRequest.newBuilder()
                .setAction(AlarmRequest.AlarmAction.ACTIVATE)
                .setMemberID(5)
                .setAlarm(AlarmType.NOSPACE)
                .build());
    assertThat(alarm.requester()).isEqualTo(Requester.MEMBER);
    assertThat(alarm.operation())
        .isEqualTo(new Operation.AlarmActivate(new NodeId(5), io.troupe.model.AlarmType.NOSPACE));
  }

  @Test
  void shortLeaseIsRaisedAndLongOneRefusedAsByEtcd() {
    assertThat(translated(8, LeaseGrantRequest.newBuilder().setID(9).setTTL(1).build()).operation())
        .isEqualTo(new Operation.LeaseGrant(9, 2));
    RaftRequest tooLong =
        new RaftRequest(
            "",
            0,
            8,
            Bytes.wrap(
                LeaseGrantRequest.newBuilder()
                    .setID(9)
                    .setTTL(9_000_000_001L)
                    .build()
                    .toByteArray()),
            null);
    assertThat(RaftOperations.of(tooLong)).isNull();
  }

  @Test
  void checkpointIsTranslated() {
    LeaseCheckpoint lease = LeaseCheckpoint.newBuilder().setID(4).setRemainingTTL(30).build();
    assertThat(
            translated(11, LeaseCheckpointRequest.newBuilder().addCheckpoints(lease).build())
                .operation())
        .isEqualTo(
            new Operation.LeaseCheckpoint(List.of(new Operation.LeaseCheckpoint.Remaining(4, 30))));
  }

  @Test
  void requestsWithoutEffectAreSkipped() {
    for (int kind : new int[] {0, 3, 1012, 1013, 1102, 1106, 1107, 1202, 1300, 1302, 9900}) {
      assertThat(RaftOperations.of(new RaftRequest("", 0, kind, Bytes.EMPTY, null))).isNull();
    }
  }

  @Test
  void untranslatableRequestsAreRefused() {
    assertThatThrownBy(() -> RaftOperations.of(new RaftRequest("", 0, 1999, Bytes.EMPTY, null)))
        .isInstanceOf(CommandException.class)
        .hasMessage("requests of kind 1999 (field of InternalRaftRequest) are unknown");
    assertThatThrownBy(
            () ->
                RaftOperations.of(
                    new RaftRequest("", 0, RaftRequest.FIRST_API, Bytes.utf8("PUT /1/a"), null)))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("\"PUT /1/a\" of etcd's first API (v2)");
    AuthUserAddRequest plain =
        AuthUserAddRequest.newBuilder().setName("u").setPassword("secret").build();
    assertThatThrownBy(() -> translated(1100, plain))
        .isInstanceOf(CommandException.class)
        .hasMessage("the password of user u is not hashed in the log, as with etcd 3.4");
    assertThatThrownBy(
            () -> RaftOperations.of(new RaftRequest("", 0, 4, Bytes.of(0x0a, 9, 1), null)))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("malformed request");
  }

  /** etcd checks a change once more when it applies it. */
  @Test
  void changesOfMembersFollowEtcdsRules() {
    StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 1 << 20);
    NodeId one = new NodeId(1);
    NodeId two = new NodeId(2);
    MemberChange.Kind voter = MemberChange.Kind.ADD_VOTER;
    MemberChange.Kind learner = MemberChange.Kind.ADD_LEARNER;
    change(machine, new MemberChange(voter, one, List.of("http://a:1")));
    assertRefused(machine, new MemberChange(voter, one, List.of("http://x:1")));
    assertRefused(machine, new MemberChange(learner, two, List.of("http://a:1")));
    change(machine, new MemberChange(learner, two, List.of("http://b:1")));
    assertRefused(machine, new MemberChange(MemberChange.Kind.PROMOTE, one, List.of()));
    change(machine, new MemberChange(MemberChange.Kind.PROMOTE, two, List.of()));
    assertThat(machine.view().membership())
        .isEqualTo(Membership.ofVoters(one, two).after(List.of(), 3));
    assertRefused(machine, new MemberChange(MemberChange.Kind.UPDATE, two, List.of("http://a:1")));
    change(machine, new MemberChange(MemberChange.Kind.UPDATE, two, List.of("http://c:1")));
    assertThat(machine.view().peerUrls().get(two)).containsExactly("http://c:1");
    change(machine, new MemberChange(MemberChange.Kind.REMOVE, two, List.of()));
    assertThat(machine.view().membership().removed()).containsExactly(two);
    assertThat(machine.view().peerUrls()).containsOnlyKeys(one);
    assertRefused(machine, new MemberChange(voter, two, List.of("http://d:1")));
    assertRefused(machine, new MemberChange(MemberChange.Kind.REMOVE, two, List.of()));
    assertThatThrownBy(
            () -> change(machine, new MemberChange(MemberChange.Kind.REMOVE, one, List.of())))
        .isInstanceOf(CommandException.class)
        .hasMessage("it removes the last voter");
  }

  private static void change(StateMachine machine, MemberChange change) {
    long index = machine.appliedIndex() + 1;
    ConfEntry entry = Objects.requireNonNull(MemberChanges.of(change, index, machine.view()));
    machine.confChange(index, 1, entry);
    machine.commit();
  }

  private static void assertRefused(StateMachine machine, MemberChange change) {
    assertThat(MemberChanges.of(change, machine.appliedIndex() + 1, machine.view())).isNull();
  }
}
