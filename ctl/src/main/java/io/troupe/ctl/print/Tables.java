package io.troupe.ctl.print;

import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Sizes;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.StatusResponse;
import java.util.ArrayList;
import java.util.List;

/** The rows of lists, for tables and for lines with commas. */
final class Tables {
  static final List<String> MEMBERS =
      List.of("ID", "Status", "Name", "Peer Addrs", "Client Addrs", "Is Learner");
  static final List<String> HEALTH = List.of("endpoint", "health", "took", "error");
  static final List<String> HASH = List.of("endpoint", "hash", "hash revision");
  static final List<String> STATUS =
      List.of(
          "endpoint",
          "ID",
          "version",
          "storage version",
          "db size",
          "in use",
          "percentage not in use",
          "quota",
          "is leader",
          "is learner",
          "raft term",
          "raft index",
          "raft applied index",
          "errors",
          "downgrade target version",
          "downgrade enabled");

  private Tables() {}

  static List<List<String>> members(MemberListResponse response) {
    List<List<String>> rows = new ArrayList<>();
    for (Member member : response.getMembersList()) {
      rows.add(
          List.of(
              Integers.hex(member.getID()),
              member.getName().isEmpty() ? "unstarted" : "started",
              member.getName(),
              String.join(",", member.getPeerURLsList()),
              String.join(",", member.getClientURLsList()),
              Boolean.toString(member.getIsLearner())));
    }
    return rows;
  }

  static List<List<String>> health(List<EndpointHealth> endpoints) {
    List<List<String>> rows = new ArrayList<>();
    for (EndpointHealth each : endpoints) {
      rows.add(
          List.of(each.endpoint(), Boolean.toString(each.healthy()), each.took(), each.error()));
    }
    return rows;
  }

  static List<List<String>> hashes(List<EndpointHash> endpoints) {
    List<List<String>> rows = new ArrayList<>();
    for (EndpointHash each : endpoints) {
      rows.add(
          List.of(
              each.endpoint(),
              Integer.toUnsignedString(each.hash().getHash()),
              Long.toString(each.hash().getHashRevision())));
    }
    return rows;
  }

  static List<List<String>> statuses(List<EndpointStatus> endpoints) {
    List<List<String>> rows = new ArrayList<>();
    for (EndpointStatus each : endpoints) {
      StatusResponse status = each.status();
      long size = status.getDbSize();
      long unused = size == 0 ? 0 : 100 - status.getDbSizeInUse() * 100 / size;
      rows.add(
          List.of(
              each.endpoint(),
              Integers.hex(status.getHeader().getMemberId()),
              status.getVersion(),
              status.getStorageVersion(),
              Sizes.format(size),
              Sizes.format(status.getDbSizeInUse()),
              unused + "%",
              Sizes.format(status.getDbSizeQuota()),
              Boolean.toString(status.getLeader() == status.getHeader().getMemberId()),
              Boolean.toString(status.getIsLearner()),
              Long.toUnsignedString(status.getRaftTerm()),
              Long.toUnsignedString(status.getRaftIndex()),
              Long.toUnsignedString(status.getRaftAppliedIndex()),
              String.join(", ", status.getErrorsList()),
              status.getDowngradeInfo().getTargetVersion(),
              Boolean.toString(status.getDowngradeInfo().getEnabled())));
    }
    return rows;
  }
}
