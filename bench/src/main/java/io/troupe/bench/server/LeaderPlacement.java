package io.troupe.bench.server;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.EventLoops;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes one member of a cluster the leader. A request that a follower receives needs more messages
 * between members, so clusters compare only if the same member of each leads.
 */
final class LeaderPlacement {
  private static final long CALL_TIMEOUT_MS = 10_000;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final EventLoops loops;
  private final List<Endpoint> members;

  LeaderPlacement(EventLoops loops, List<Endpoint> members) {
    this.loops = loops;
    this.members = members;
  }

  /**
   * Waits until the member leads.
   *
   * @param index of the member, 0 to members - 1
   * @throws IllegalStateException if it does not lead within two minutes
   */
  void await(int index) {
    long start = System.nanoTime();
    while (!leads(members.get(index))) {
      if (System.nanoTime() - start > TIMEOUT_NANOS) {
        throw new IllegalStateException(members.get(index) + " does not become the leader");
      }
      transfer(members.get(index));
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private boolean leads(Endpoint member) {
    StatusResponse status = status(member);
    return status.getLeader() == status.getHeader().getMemberId();
  }

  /** Asks the leader, if a member is one, to transfer its leadership. */
  private void transfer(Endpoint to) {
    long target = status(to).getHeader().getMemberId();
    for (Endpoint member : members) {
      if (!member.equals(to) && leads(member)) {
        try {
          call(
              member,
              EtcdMethod.MOVE_LEADER,
              MoveLeaderRequest.newBuilder().setTargetID(target).build().toByteArray());
        } catch (IllegalStateException refused) {
          // The leadership may have changed, or the transfer took too long: it is tried again.
          System.out.println("leadership not moved yet: " + refused.getMessage());
        }
      }
    }
  }

  private StatusResponse status(Endpoint member) {
    ByteString reply =
        call(member, EtcdMethod.STATUS, StatusRequest.getDefaultInstance().toByteArray());
    try {
      return StatusResponse.parseFrom(reply);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("status of " + member, e);
    }
  }

  private ByteString call(Endpoint member, EtcdMethod method, byte[] request) {
    try (Connections connection = new Connections(loops, List.of(member), 1)) {
      return connection.call(method, request, CALL_TIMEOUT_MS).body();
    }
  }
}
