package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.BidiCall;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.ctl.print.Printers;
import io.troupe.ctl.text.Integers;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseKeepAliveRequest;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesRequest;
import io.troupe.grpc.api.LeaseRevokeRequest;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveRequest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Leases: grant, revoke, timetolive, list, keep-alive. */
@Command(name = "lease", description = "Lease related commands")
final class LeaseCommands {
  private final Session session;

  LeaseCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "grant",
      customSynopsis = "grant <ttl>",
      description = "Creates a lease of some seconds")
  void grant() {
    String text = session.onlyArg("lease grant command needs TTL argument");
    long ttl;
    try {
      ttl = Integers.parse(text, 10);
    } catch (IllegalArgumentException e) {
      throw CtlException.arguments("bad TTL (" + e.getMessage() + ")");
    }
    try {
      LeaseGrantRequest request = LeaseGrantRequest.newBuilder().setTTL(ttl).build();
      session.printer().grant(session.client().call(EtcdMethods.LEASE_GRANT, request));
    } catch (RpcException e) {
      throw new CtlException(ExitCode.ERROR, "failed to grant lease (" + e.getMessage() + ")");
    }
  }

  @Command(
      name = "revoke",
      customSynopsis = "revoke <leaseID>",
      description = "Revokes a lease and deletes its keys")
  void revoke() {
    long id = lease(session.onlyArg("lease revoke command needs 1 argument"));
    LeaseRevokeResponse response;
    try {
      LeaseRevokeRequest request = LeaseRevokeRequest.newBuilder().setID(id).build();
      response = session.client().call(EtcdMethods.LEASE_REVOKE, request);
    } catch (RpcException e) {
      throw new CtlException(ExitCode.ERROR, "failed to revoke lease (" + e.getMessage() + ")");
    }
    session.printer().revoke(id, response);
  }

  @Command(
      name = "timetolive",
      customSynopsis = "timetolive <leaseID> [options]",
      description = "Prints the remaining time of a lease")
  void timeToLive(
      @Option(names = "--keys", arity = "1", description = "also print the attached keys")
          boolean keys) {
    long id = lease(session.onlyArg("lease timetolive command needs lease ID as argument"));
    LeaseTimeToLiveRequest request =
        LeaseTimeToLiveRequest.newBuilder().setID(id).setKeys(keys).build();
    try {
      session
          .printer()
          .timeToLive(session.client().read(EtcdMethods.LEASE_TIME_TO_LIVE, request), keys);
    } catch (RpcException e) {
      throw connection(e);
    }
  }

  @Command(name = "list", description = "Prints the IDs of all leases")
  void list() {
    try {
      session
          .printer()
          .leases(
              session
                  .client()
                  .read(EtcdMethods.LEASE_LEASES, LeaseLeasesRequest.getDefaultInstance()));
    } catch (RpcException e) {
      throw connection(e);
    }
  }

  @Command(
      name = "keep-alive",
      customSynopsis = "keep-alive [options] <leaseID>",
      description = "Renews a lease until it is revoked or the command is interrupted")
  void keepAlive(
      @Option(names = "--once", arity = "1", description = "renew the lease once") boolean once) {
    long id = lease(session.onlyArg("lease keep-alive command needs lease ID as argument"));
    LeaseKeepAliveRequest request = LeaseKeepAliveRequest.newBuilder().setID(id).build();
    try (BidiCall<LeaseKeepAliveRequest, LeaseKeepAliveResponse> call =
        session.client().open(EtcdMethods.LEASE_KEEP_ALIVE, once)) {
      while (true) {
        call.send(request);
        LeaseKeepAliveResponse response = call.next(session.options().commandTimeout.toMillis());
        if (response == null) {
          throw new CtlException(ExitCode.BAD_CONNECTION, "context deadline exceeded");
        }
        if (response.getTTL() <= 0) {
          break;
        }
        session.printer().keepAlive(response);
        session.console().flush();
        if (once) {
          return;
        }
        // A third of the time, as etcd's clients do. A response that nothing requested ends the
        // call.
        LeaseKeepAliveResponse unexpected = call.next(response.getTTL() * 1000 / 3);
        if (unexpected != null) {
          throw new CtlException(ExitCode.BAD_CONNECTION, "unexpected response of keep-alive");
        }
      }
    } catch (RpcException e) {
      throw connection(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CtlException.silent(ExitCode.INTERRUPTED);
    }
    if (once) {
      throw new CtlException(ExitCode.BAD_CONNECTION, "etcdserver: requested lease not found");
    }
    if (Printers.isSimple(session.printer())) {
      session.console().line("lease " + Integers.lease(id) + " expired or revoked.");
    }
  }

  private static CtlException connection(RpcException e) {
    return new CtlException(ExitCode.BAD_CONNECTION, e.getMessage());
  }

  private static long lease(String text) {
    try {
      return Integers.parse(text, 16);
    } catch (IllegalArgumentException e) {
      throw CtlException.arguments(
          "bad lease ID arg (" + e.getMessage() + "), expecting ID in Hex");
    }
  }
}
