package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.text.RawArguments;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.election.CampaignRequest;
import io.troupe.grpc.api.election.CampaignResponse;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.lock.LockRequest;
import io.troupe.grpc.api.lock.LockResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Coordination of clients: lock, elect. The server's Lock and Election services do the work. */
final class LockCommands {
  private static final Duration UNLIMITED = Duration.ofDays(365);

  private LockCommands() {}

  private static RangeResponse get(EtcdClient client, ByteString key) {
    return client.read(EtcdMethods.RANGE, RangeRequest.newBuilder().setKey(key).build());
  }

  /** Holds a lock until the program is stopped, or while a command runs. */
  @Command(
      name = "lock",
      customSynopsis = "lock <lockname> [exec-command arg1 arg2 ...]",
      description = "Acquires a named lock")
  static final class Lock implements Runnable {
    private final Session session;

    @Option(
        names = "--ttl",
        paramLabel = "int",
        defaultValue = "10",
        description = "seconds after which the lock of a lost client is released")
    int ttl;

    Lock(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      List<String> args = session.args();
      if (args.isEmpty()) {
        throw CtlException.arguments(
            "lock takes a lock name argument and an optional command to execute");
      }
      EtcdClient client = session.client();
      LeaseSession lease = LeaseSession.start(client, ttl > 0 ? ttl : 60);
      try (lease;
          OnInterrupt hook = OnInterrupt.run(lease::close)) {
        LockRequest request =
            LockRequest.newBuilder()
                .setName(RawArguments.encode(args.get(0)))
                .setLease(lease.id())
                .build();
        LockResponse lock = client.call(EtcdMethods.LOCK, request, UNLIMITED);
        List<String> command = args.subList(1, args.size());
        if (!command.isEmpty()) {
          execute(command, lock);
          return;
        }
        RangeResponse key = get(client, lock.getKey());
        if (key.getKvsCount() == 0) {
          throw new CtlException(ExitCode.ERROR, "lock lost on init");
        }
        session.printer().range(key);
        session.console().flush();
        lease.awaitEnd();
        throw new CtlException(ExitCode.ERROR, "session expired");
      }
    }

    private void execute(List<String> command, LockResponse lock) {
      Map<String, String> variables =
          Map.of(
              "ETCD_LOCK_KEY", lock.getKey().toStringUtf8(),
              "ETCD_LOCK_REV", Long.toString(lock.getHeader().getRevision()));
      int status = session.console().run(command, variables);
      if (status != 0) {
        throw new CtlException(status, "exit status " + status);
      }
    }
  }

  /** Campaigns, or observes. */
  @Command(
      name = "elect",
      customSynopsis = "elect <election-name> [proposal]",
      description = "Campaigns in an election, or observes its leaders")
  static final class Elect implements Runnable {
    private static final int TTL_SECONDS = 60;

    private final Session session;

    @Option(
        names = {"-l", "--listen"},
        arity = "1",
        description = "observe only")
    boolean listen;

    Elect(Session session) {
      this.session = session;
    }

    @Override
    public void run() {
      List<String> args = session.args();
      if (args.isEmpty() || args.size() > 2) {
        throw CtlException.arguments(
            "elect takes one election name argument and an optional proposal argument");
      }
      ByteString name = RawArguments.encode(args.get(0));
      if (args.size() == 1) {
        if (!listen) {
          throw CtlException.arguments("no proposal argument but -l not set");
        }
        observe(name);
      } else {
        if (listen) {
          throw CtlException.arguments("proposal given but -l is set");
        }
        campaign(name, RawArguments.encode(args.get(1)));
      }
    }

    private void observe(ByteString name) {
      LeaderRequest request = LeaderRequest.newBuilder().setName(name).build();
      Iterator<LeaderResponse> leaders =
          session.client().stream(EtcdMethods.OBSERVE, request, Duration.ZERO);
      try (OnInterrupt hook = OnInterrupt.run(session.console()::flush)) {
        while (leaders.hasNext()) {
          LeaderResponse leader = leaders.next();
          session
              .printer()
              .range(
                  RangeResponse.newBuilder()
                      .setHeader(leader.getHeader())
                      .addKvs(leader.getKv())
                      .build());
          session.console().flush();
        }
      } catch (RpcException e) {
        throw new CtlException(ExitCode.ERROR, "elect: observer lost: " + e.getMessage());
      }
      throw new CtlException(ExitCode.ERROR, "elect: observer lost");
    }

    private void campaign(ByteString name, ByteString proposal) {
      EtcdClient client = session.client();
      LeaseSession lease = LeaseSession.start(client, TTL_SECONDS);
      try (lease;
          OnInterrupt hook = OnInterrupt.run(lease::close)) {
        CampaignRequest request =
            CampaignRequest.newBuilder()
                .setName(name)
                .setLease(lease.id())
                .setValue(proposal)
                .build();
        CampaignResponse won = client.call(EtcdMethods.CAMPAIGN, request, UNLIMITED);
        session.printer().range(get(client, won.getLeader().getKey()));
        session.console().flush();
        lease.awaitEnd();
        throw new CtlException(ExitCode.ERROR, "elect: session expired");
      }
    }
  }
}
