package io.troupe.tests.faults;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.troupe.grpc.api.DowngradeInfo;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeRequest.DowngradeAction;
import io.troupe.grpc.api.DowngradeResponse;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Versions of the members of a cluster; the client library of the other calls lacks them. */
final class ClusterVersionCalls {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final long CALL_MS = 5000;

  private static final MethodDescriptor<StatusRequest, StatusResponse> STATUS =
      method("Status", StatusRequest.getDefaultInstance(), StatusResponse.getDefaultInstance());
  private static final MethodDescriptor<DowngradeRequest, DowngradeResponse> DOWNGRADE =
      method(
          "Downgrade",
          DowngradeRequest.getDefaultInstance(),
          DowngradeResponse.getDefaultInstance());

  private final TestCluster cluster;

  ClusterVersionCalls(TestCluster cluster) {
    this.cluster = cluster;
  }

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String name, Q request, R response) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName("etcdserverpb.Maintenance/" + name)
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(response))
        .build();
  }

  /** Status of a member; null if it does not respond. */
  private @Nullable StatusResponse status(int member) {
    try {
      return cluster.calls(member).call(STATUS, StatusRequest.getDefaultInstance(), CALL_MS);
    } catch (StatusRuntimeException unavailable) {
      return null;
    }
  }

  /** Waits until all these members respond with such a status. */
  private void await(String what, Collection<Integer> members, Predicate<StatusResponse> test) {
    Awaitility.await(what)
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () ->
                members.stream()
                    .allMatch(
                        member -> {
                          StatusResponse status = status(member);
                          return status != null && test.test(status);
                        }));
  }

  /** Waits until the data of all members has this storage version, which follows the cluster's. */
  void awaitStorage(String version) {
    await(
        "storage version " + version,
        cluster.members(),
        status -> status.getStorageVersion().equals(version));
  }

  /** Waits until a member serves this version. */
  void awaitServer(int member, String version) {
    await(
        "member " + member + " serves " + version,
        List.of(member),
        status -> status.getVersion().equals(version) && status.getLeader() != 0);
  }

  /** Waits until all members know of a downgrade to this version; empty: of none. */
  void awaitDowngrade(String target) {
    DowngradeInfo expected =
        DowngradeInfo.newBuilder().setEnabled(!target.isEmpty()).setTargetVersion(target).build();
    await(
        "downgrade \"" + target + "\"",
        cluster.members(),
        status -> status.getDowngradeInfo().equals(expected));
  }

  /** Versions that all members report now, of server and storage. */
  List<String> now() {
    return cluster.members().stream()
        .map(this::status)
        .map(
            status ->
                status == null ? "none" : status.getVersion() + "/" + status.getStorageVersion())
        .toList();
  }

  /** Returns the cluster version of the response. */
  String downgrade(int member, DowngradeAction action, String version) {
    return cluster
        .calls(member)
        .call(
            DOWNGRADE,
            DowngradeRequest.newBuilder().setAction(action).setVersion(version).build(),
            CALL_MS)
        .getVersion();
  }
}
