package io.troupe.tests.faults;

import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import io.troupe.tests.process.CallFate;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Sends calls to members and records their outcomes. One thread. */
final class HistoryClient {
  private final TestCluster cluster;
  private final ClusterHistory history;
  private final SplittableRandom random;
  private int member;

  HistoryClient(TestCluster cluster, ClusterHistory history, SplittableRandom random) {
    this.cluster = cluster;
    this.history = history;
    this.random = random;
    goElsewhere();
  }

  /** The next calls go to any member. */
  void goElsewhere() {
    List<Integer> all = new ArrayList<>(cluster.members());
    member = all.get(random.nextInt(all.size()));
  }

  /** The next call goes there. */
  void goTo(int there) {
    member = there;
  }

  /**
   * Calls the current member; after anything but a response the next call goes to another member.
   */
  Answer call(Request request, long deadlineMs) {
    long session = cluster.session(member);
    long invoked = history.nowUs();
    Answer answer;
    try {
      answer = send(request, deadlineMs);
    } catch (StatusRuntimeException e) {
      answer = outcome(request, e.getStatus());
    }
    long returned = answer == Answer.Unknown.INSTANCE ? Call.NEVER : history.nowUs();
    if (session != cluster.session(member)) {
      // The run that responded is unknown.
      session = -invoked;
    }
    history.add(new Call(session, request, invoked, returned, answer));
    if (!(answer instanceof Answer.Done || answer instanceof Answer.Renewed)) {
      goElsewhere();
    }
    return answer;
  }

  private Answer send(Request request, long deadlineMs) {
    MemberCalls calls = cluster.calls(member);
    if (request instanceof Request.Read read) {
      return new Answer.Done(
          EtcdModel.model(
              calls.call(
                  KVGrpc.getRangeMethod(),
                  EtcdModel.wire(read.query(), read.serializable()),
                  deadlineMs)));
    } else if (request instanceof Request.KeepAlive renewal) {
      return new Answer.Renewed(calls.keepAlive(renewal.lease(), deadlineMs).getTTL());
    }
    return new Answer.Done(write(calls, ((Request.Write) request).operation(), deadlineMs));
  }

  private static Result write(MemberCalls calls, Operation operation, long deadlineMs) {
    if (operation instanceof Operation.Put put) {
      return EtcdModel.model(calls.call(KVGrpc.getPutMethod(), EtcdModel.wire(put), deadlineMs));
    } else if (operation instanceof Operation.DeleteRange delete) {
      return EtcdModel.model(
          calls.call(KVGrpc.getDeleteRangeMethod(), EtcdModel.wire(delete), deadlineMs));
    } else if (operation instanceof Operation.Txn txn) {
      return EtcdModel.model(calls.call(KVGrpc.getTxnMethod(), EtcdModel.wire(txn), deadlineMs));
    } else if (operation instanceof Operation.LeaseGrant grant) {
      LeaseGrantResponse granted =
          calls.call(
              LeaseGrpc.getLeaseGrantMethod(),
              LeaseGrantRequest.newBuilder().setID(grant.id()).setTTL(grant.ttlSeconds()).build(),
              deadlineMs);
      return new Result.LeaseGrant(
          granted.getHeader().getRevision(), granted.getID(), granted.getTTL());
    } else if (operation instanceof Operation.LeaseRevoke revoke) {
      return new Result.LeaseRevoke(
          calls
              .call(
                  LeaseGrpc.getLeaseRevokeMethod(),
                  LeaseRevokeRequest.newBuilder().setID(revoke.id()).build(),
                  deadlineMs)
              .getHeader()
              .getRevision());
    }
    if (operation instanceof Operation.Compact compact) {
      return new Result.Compact(
          calls
              .call(
                  KVGrpc.getCompactMethod(),
                  CompactionRequest.newBuilder().setRevision(compact.revision()).build(),
                  deadlineMs)
              .getHeader()
              .getRevision());
    }
    throw new IllegalArgumentException("clients of a campaign do not ask " + operation);
  }

  /** Only a certain refusal counts as refused. */
  private static Answer outcome(Request request, Status status) {
    String text = String.valueOf(status.getDescription());
    if (text.equals("etcdserver: mvcc: required revision is a future revision")) {
      return new Answer.Done(new Result.Refused(Refusal.FUTURE_REVISION));
    } else if (text.equals("etcdserver: mvcc: required revision has been compacted")) {
      return new Answer.Done(new Result.Refused(Refusal.COMPACTED));
    } else if (text.equals("etcdserver: requested lease not found")) {
      return new Answer.Done(new Result.Refused(Refusal.LEASE_NOT_FOUND));
    } else if (status.getCause() instanceof ConnectException
        || text.equals("etcdserver: no leader")) {
      return new Answer.Refused(Refusal.NO_LEADER);
    } else if (text.equals("etcdserver: too many requests")) {
      return new Answer.Refused(Refusal.TOO_MANY_REQUESTS);
    } else if (text.equals("etcdserver: mvcc: database space exceeded")) {
      return new Answer.Refused(Refusal.NO_SPACE);
    }
    // A transaction over many large values is applied although its response does not fit.
    if (CallFate.isUnknown(status) || text.startsWith("troupe: the request was applied")) {
      return Answer.Unknown.INSTANCE;
    }
    throw new AssertionError("an answer that must not be: " + status + " to " + request);
  }
}
