package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import io.troupe.grpc.api.backup.BackupRequest;
import io.troupe.grpc.api.backup.BackupResponse;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Backups of a running cluster: now. The other commands on backups work on files. */
@Command(name = "backup", description = "Backups that the cluster writes (list, verify, restore)")
final class BackupCommands {
  /** A backup may take long; the connection is probed meanwhile. */
  private static final Duration UNLIMITED = Duration.ofDays(365);

  private final Session session;

  BackupCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "now",
      customSynopsis = "now",
      description = {
        "Writes a backup and waits until it is complete",
        "",
        "The leader writes it: one of the endpoints, or else at its client URL."
      })
  void now() {
    if (!session.args().isEmpty()) {
      throw CtlException.arguments("backup now command accepts no arguments");
    }
    session.printer();
    String leader = leader();
    Duration limit =
        session.isGiven("--command-timeout") ? session.options().commandTimeout : UNLIMITED;
    BackupResponse written;
    try (EtcdClient client = session.clientOf(leader);
        Progress progress = Progress.spinner(session.console(), "writing a backup")) {
      written = client.call(EtcdMethods.BACKUP, BackupRequest.getDefaultInstance(), limit);
      progress.close();
    }
    session.printer().backup(written);
  }

  /** Where the leader serves. */
  private String leader() {
    List<String> endpoints = session.settings().endpoints();
    StatusResponse known = null;
    RpcException failure = null;
    for (String endpoint : endpoints) {
      try (EtcdClient client = session.clientOf(endpoint)) {
        StatusResponse status = client.read(EtcdMethods.STATUS, StatusRequest.getDefaultInstance());
        if (status.getLeader() == status.getHeader().getMemberId()) {
          return endpoint;
        }
        known = status.getLeader() == 0 ? known : status;
      } catch (RpcException unreachable) {
        failure = unreachable;
      }
    }
    String published = known == null ? null : published(known.getLeader());
    if (published != null) {
      return published;
    }
    if (failure != null) {
      throw failure;
    }
    throw new CtlException(
        ExitCode.ERROR,
        "no leader is known at [" + String.join(" ", endpoints) + "], or it has no client URL");
  }

  private @Nullable String published(long leader) {
    MemberListRequest request = MemberListRequest.newBuilder().setLinearizable(true).build();
    for (Member member : session.client().read(EtcdMethods.MEMBER_LIST, request).getMembersList()) {
      if (member.getID() == leader && member.getClientURLsCount() > 0) {
        return member.getClientURLs(0);
      }
    }
    return null;
  }
}
