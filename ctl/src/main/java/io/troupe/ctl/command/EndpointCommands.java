package io.troupe.ctl.command;

import io.grpc.Status;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.LoginException;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.print.EndpointHash;
import io.troupe.ctl.print.EndpointHealth;
import io.troupe.ctl.print.EndpointStatus;
import io.troupe.ctl.text.Durations;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.StatusRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Each endpoint on its own: health, status, hashkv. */
@Command(name = "endpoint", description = "Endpoint related commands")
final class EndpointCommands {
  private static final String CLUSTER = "use the client URLs of all members of the cluster";

  private final Session session;

  EndpointCommands(Session session) {
    this.session = session;
  }

  /**
   * The endpoints of the flags, or those of all members.
   *
   * @throws CtlException if the members are not known
   */
  static List<String> endpoints(Session session, boolean cluster) {
    if (!cluster) {
      return session.settings().endpoints();
    }
    MemberListRequest request = MemberListRequest.newBuilder().setLinearizable(true).build();
    try {
      List<String> urls = new ArrayList<>();
      session
          .client()
          .read(EtcdMethods.MEMBER_LIST, request)
          .getMembersList()
          .forEach(member -> urls.addAll(member.getClientURLsList()));
      return urls;
    } catch (RpcException e) {
      throw new CtlException(
          ExitCode.ERROR,
          "failed to fetch endpoints from etcd cluster member list: " + e.getMessage());
    }
  }

  @Command(name = "health", description = "Checks whether each endpoint serves")
  void health(@Option(names = "--cluster", arity = "1", description = CLUSTER) boolean cluster) {
    session.printer();
    List<CompletableFuture<EndpointHealth>> checks = new ArrayList<>();
    for (String endpoint : endpoints(session, cluster)) {
      EtcdClient client = session.clientOf(endpoint);
      checks.add(CompletableFuture.supplyAsync(() -> check(endpoint, client), Session.THREADS));
    }
    List<EndpointHealth> results = checks.stream().map(CompletableFuture::join).toList();
    session.printer().endpointHealth(results);
    if (results.stream().anyMatch(result -> !result.error().isEmpty())) {
      throw new CtlException(ExitCode.ERROR, "unhealthy cluster");
    }
  }

  private static EndpointHealth check(String endpoint, EtcdClient client) {
    long start = System.nanoTime();
    String error = "";
    try {
      RangeRequest request =
          RangeRequest.newBuilder()
              .setKey(com.google.protobuf.ByteString.copyFromUtf8("health"))
              .build();
      var unused = client.read(EtcdMethods.RANGE, request);
    } catch (LoginException e) {
      return new EndpointHealth(endpoint, false, "", e.getMessage());
    } catch (RpcException e) {
      // A quorum was needed to learn that the user has no permission.
      error = e.code() == Status.Code.PERMISSION_DENIED ? "" : e.getMessage();
    }
    String took = Durations.format(System.nanoTime() - start);
    if (error.isEmpty()) {
      error = alarms(client);
    }
    return new EndpointHealth(endpoint, error.isEmpty(), took, error);
  }

  private static String alarms(EtcdClient client) {
    try {
      AlarmResponse response = client.read(EtcdMethods.ALARM, AlarmRequest.getDefaultInstance());
      StringBuilder text = new StringBuilder();
      for (AlarmMember alarm : response.getAlarmsList()) {
        text.append(
            switch (alarm.getAlarm()) {
              case NOSPACE -> "NOSPACE ";
              case CORRUPT -> "CORRUPT ";
              default -> "UNKNOWN ";
            });
      }
      return text.isEmpty() ? "" : "Active Alarm(s): " + text;
    } catch (RpcException e) {
      return "Unable to fetch the alarm list";
    }
  }

  @Command(
      name = "status",
      description = {
        "Prints the status of each endpoint",
        "",
        "The mode simple prints endpoint, ID, version, storage version, size, size in use,",
        "percentage not in use, quota, whether it is leader, whether it is a learner, term, index,",
        "applied index, errors, downgrade target version, downgrade enabled."
      })
  void status(@Option(names = "--cluster", arity = "1", description = CLUSTER) boolean cluster) {
    session.printer();
    List<EndpointStatus> results = new ArrayList<>();
    List<String> endpoints = endpoints(session, cluster);
    for (String endpoint : endpoints) {
      try (EtcdClient client = session.clientOf(endpoint)) {
        results.add(
            new EndpointStatus(
                endpoint, client.read(EtcdMethods.STATUS, StatusRequest.getDefaultInstance())));
      } catch (RpcException e) {
        session
            .console()
            .error(
                "Failed to get the status of endpoint " + endpoint + " (" + e.getMessage() + ")");
      }
    }
    session.printer().endpointStatus(results);
    if (results.size() < endpoints.size()) {
      throw CtlException.silent(ExitCode.ERROR);
    }
  }

  @Command(name = "hashkv", description = "Prints the hash of the history of each endpoint")
  void hashKv(
      @Option(names = "--cluster", arity = "1", description = CLUSTER) boolean cluster,
      @Option(
              names = "--rev",
              paramLabel = "int",
              description = "largest revision to include (default: the latest)")
          long rev) {
    session.printer();
    List<EndpointHash> results = new ArrayList<>();
    String error = "";
    for (String endpoint : endpoints(session, cluster)) {
      try (EtcdClient client = session.clientOf(endpoint)) {
        HashKVRequest request = HashKVRequest.newBuilder().setRevision(rev).build();
        results.add(new EndpointHash(endpoint, client.read(EtcdMethods.HASH_KV, request)));
      } catch (RpcException e) {
        error = e.getMessage();
        session
            .console()
            .error("Failed to get the hash of endpoint " + endpoint + " (" + error + ")");
      }
    }
    session.printer().endpointHash(results);
    if (!error.isEmpty()) {
      throw new CtlException(ExitCode.ERROR, error);
    }
  }
}
