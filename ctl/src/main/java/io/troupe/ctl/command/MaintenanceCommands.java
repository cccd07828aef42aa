package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.text.Durations;
import io.troupe.ctl.text.Integers;
import io.troupe.grpc.api.AlarmRequest;
import io.troupe.grpc.api.AlarmRequest.AlarmAction;
import io.troupe.grpc.api.DefragmentRequest;
import io.troupe.grpc.api.DowngradeRequest;
import io.troupe.grpc.api.DowngradeRequest.DowngradeAction;
import io.troupe.grpc.api.MoveLeaderRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Maintenance of members: alarm, defrag, move-leader, downgrade. */
final class MaintenanceCommands {
  private MaintenanceCommands() {}

  /** Alarms of all members. */
  @Command(name = "alarm", description = "Alarm related commands")
  static final class Alarm {
    private final Session session;

    Alarm(Session session) {
      this.session = session;
    }

    @Command(name = "disarm", description = "Disarms all alarms")
    void disarm() {
      requireNone("alarm disarm command accepts no arguments");
      AlarmRequest get = AlarmRequest.getDefaultInstance();
      EtcdClient client = session.client();
      // A request without a member and a type disarms nothing: each alarm needs one of its own.
      var disarmed = io.troupe.grpc.api.AlarmResponse.newBuilder();
      for (var alarm : client.read(EtcdMethods.ALARM, get).getAlarmsList()) {
        AlarmRequest request =
            AlarmRequest.newBuilder()
                .setAction(AlarmAction.DEACTIVATE)
                .setMemberID(alarm.getMemberID())
                .setAlarm(alarm.getAlarm())
                .build();
        disarmed.addAllAlarms(client.call(EtcdMethods.ALARM, request).getAlarmsList());
      }
      session.printer().alarm(disarmed.build());
    }

    @Command(name = "list", description = "Prints all alarms")
    void list() {
      requireNone("alarm list command accepts no arguments");
      session
          .printer()
          .alarm(session.client().read(EtcdMethods.ALARM, AlarmRequest.getDefaultInstance()));
    }

    private void requireNone(String error) {
      if (!session.args().isEmpty()) {
        throw CtlException.arguments(error);
      }
    }
  }

  /** Returns free space to the file system. */
  @Command(name = "defrag", description = "Defragments the store of the members at the endpoints")
  static final class Defrag implements Runnable {
    private final Session session;

    @Option(
        names = "--cluster",
        arity = "1",
        description = "use the client URLs of all members of the cluster")
    boolean cluster;

    Defrag(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      session.printer();
      boolean failed = false;
      for (String endpoint : EndpointCommands.endpoints(session, cluster)) {
        long start = System.nanoTime();
        try (EtcdClient client = session.clientOf(endpoint);
            Progress progress = Progress.spinner(session.console(), "defragmenting " + endpoint)) {
          var unused = client.call(EtcdMethods.DEFRAGMENT, DefragmentRequest.getDefaultInstance());
          progress.close();
          session
              .console()
              .line("Finished defragmenting etcd member[" + endpoint + "]. took " + since(start));
        } catch (RpcException e) {
          failed = true;
          session
              .console()
              .error(
                  "Failed to defragment etcd member["
                      + endpoint
                      + "]. took "
                      + since(start)
                      + ". ("
                      + e.getMessage()
                      + ")");
        }
      }
      if (failed) {
        throw CtlException.silent(ExitCode.ERROR);
      }
    }

    private static String since(long start) {
      return Durations.format(System.nanoTime() - start);
    }
  }

  /** Transfers leadership. */
  @Command(
      name = "move-leader",
      customSynopsis = "move-leader <transferee-member-id>",
      description = "Transfers leadership to another member")
  static final class MoveLeader implements Runnable {
    private final Session session;

    MoveLeader(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      String text = session.onlyArg("move-leader command needs 1 argument");
      long target;
      try {
        target = Integers.parseUnsigned(text, 16);
      } catch (IllegalArgumentException e) {
        throw CtlException.arguments(String.valueOf(e.getMessage()));
      }
      session.printer();
      List<String> endpoints = session.settings().endpoints();
      for (String endpoint : endpoints) {
        try (EtcdClient client = session.clientOf(endpoint)) {
          StatusResponse status =
              client.read(EtcdMethods.STATUS, StatusRequest.getDefaultInstance());
          if (status.getLeader() == status.getHeader().getMemberId()) {
            MoveLeaderRequest request = MoveLeaderRequest.newBuilder().setTargetID(target).build();
            session
                .printer()
                .moveLeader(
                    status.getLeader(), target, client.call(EtcdMethods.MOVE_LEADER, request));
            return;
          }
        }
      }
      throw CtlException.arguments(
          "no leader endpoint given at [" + String.join(" ", endpoints) + "]");
    }
  }

  /** Downgrade of the cluster version. */
  @Command(name = "downgrade", description = "Downgrade related commands")
  static final class Downgrade {
    private final Session session;

    Downgrade(Session session) {
      this.session = session;
    }

    @Command(
        name = "validate",
        customSynopsis = "validate <TARGET_VERSION>",
        description = "Checks whether the cluster can be downgraded")
    void validate() {
      run("validate", DowngradeAction.VALIDATE, version());
    }

    @Command(
        name = "enable",
        customSynopsis = "enable <TARGET_VERSION>",
        description = "Starts a downgrade of the cluster")
    void enable() {
      run("enable", DowngradeAction.ENABLE, version());
    }

    @Command(name = "cancel", description = "Cancels a downgrade")
    void cancel() {
      run("cancel", DowngradeAction.CANCEL, "");
    }

    private String version() {
      if (session.args().isEmpty()) {
        throw CtlException.arguments("TARGET_VERSION not provided");
      }
      String version = session.onlyArg("too many arguments");
      if (version.isEmpty()) {
        throw CtlException.arguments("target version not provided");
      }
      return version;
    }

    private void run(String name, DowngradeAction action, String version) {
      DowngradeRequest request =
          DowngradeRequest.newBuilder().setAction(action).setVersion(version).build();
      session.printer().downgrade(name, session.client().call(EtcdMethods.DOWNGRADE, request));
    }
  }
}
