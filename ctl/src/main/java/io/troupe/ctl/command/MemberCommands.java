package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.print.Printers;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Quoted;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.grpc.api.MemberRemoveRequest;
import io.troupe.grpc.api.MemberUpdateRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The members of the cluster: add, remove, update, list, promote. */
@Command(name = "member", description = "Membership related commands")
final class MemberCommands {
  private final Session session;

  MemberCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "add",
      customSynopsis = "add <memberName> [options]",
      description = "Adds a member and prints how to start it")
  void add(
      @Option(
              names = "--peer-urls",
              paramLabel = "string",
              defaultValue = "",
              description = "peer URLs of the new member, separated by commas")
          String peerUrls,
      @Option(names = "--learner", arity = "1", description = "add it as a learner")
          boolean learner) {
    List<String> args = session.args();
    if (args.isEmpty()) {
      throw CtlException.arguments("member name not provided");
    }
    if (args.size() > 1) {
      StringBuilder error = new StringBuilder("too many arguments");
      for (String arg : args) {
        if (arg.toLowerCase(Locale.ROOT).startsWith("http")) {
          error.append(", did you mean --peer-urls=").append(arg);
        }
      }
      throw CtlException.arguments(error.toString());
    }
    MemberAddRequest request =
        MemberAddRequest.newBuilder().addAllPeerURLs(urls(peerUrls)).setIsLearner(learner).build();
    MemberAddResponse response = session.client().call(EtcdMethods.MEMBER_ADD, request);
    session.printer().memberAdd(response);
    if (Printers.isSimple(session.printer())) {
      printStart(args.get(0), peerUrls, response);
    }
  }

  private void printStart(String name, String peerUrls, MemberAddResponse response) {
    List<String> cluster = new ArrayList<>();
    for (Member member : response.getMembersList()) {
      boolean added = member.getID() == response.getMember().getID();
      for (String url : member.getPeerURLsList()) {
        cluster.add((added ? name : member.getName()) + "=" + url);
      }
    }
    session.console().line("");
    session.console().line("ETCD_NAME=" + Quoted.quote(name));
    session.console().line("ETCD_INITIAL_CLUSTER=" + Quoted.quote(String.join(",", cluster)));
    session.console().line("ETCD_INITIAL_ADVERTISE_PEER_URLS=" + Quoted.quote(peerUrls));
    session.console().line("ETCD_INITIAL_CLUSTER_STATE=\"existing\"");
  }

  private static List<String> urls(String text) {
    if (text.isEmpty()) {
      throw CtlException.arguments("member peer urls not provided");
    }
    return List.of(text.split(",", -1));
  }

  @Command(
      name = "remove",
      customSynopsis = "remove <memberID>",
      description = "Removes a member from the cluster")
  void remove() {
    long id = id();
    MemberRemoveRequest request = MemberRemoveRequest.newBuilder().setID(id).build();
    session.printer().memberRemove(id, session.client().call(EtcdMethods.MEMBER_REMOVE, request));
  }

  @Command(
      name = "update",
      customSynopsis = "update <memberID> [options]",
      description = "Changes the peer URLs of a member")
  void update(
      @Option(
              names = "--peer-urls",
              paramLabel = "string",
              defaultValue = "",
              description = "new peer URLs of the member, separated by commas")
          String peerUrls) {
    long id = id();
    MemberUpdateRequest request =
        MemberUpdateRequest.newBuilder().setID(id).addAllPeerURLs(urls(peerUrls)).build();
    session.printer().memberUpdate(id, session.client().call(EtcdMethods.MEMBER_UPDATE, request));
  }

  @Command(
      name = "list",
      description = {
        "Prints the members of the cluster",
        "",
        "The mode simple prints ID, status, name, peer URLs, client URLs and whether it is a learner."
      })
  void list(
      @Option(
              names = "--consistency",
              paramLabel = "string",
              defaultValue = "l",
              description = "linearizable (l) or serializable (s)")
          String consistency) {
    MemberListRequest request =
        MemberListRequest.newBuilder()
            .setLinearizable(!KvCommands.isSerializable(consistency))
            .build();
    session.printer().memberList(session.client().read(EtcdMethods.MEMBER_LIST, request));
  }

  @Command(
      name = "promote",
      customSynopsis = "promote <memberID>",
      description = "Makes a learner a voting member")
  void promote() {
    long id = id();
    MemberPromoteRequest request = MemberPromoteRequest.newBuilder().setID(id).build();
    session.printer().memberPromote(id, session.client().call(EtcdMethods.MEMBER_PROMOTE, request));
  }

  private long id() {
    String text = session.onlyArg("member ID is not provided");
    try {
      return Integers.parseUnsigned(text, 16);
    } catch (IllegalArgumentException e) {
      throw CtlException.arguments(
          "bad member ID arg (" + e.getMessage() + "), expecting ID in Hex");
    }
  }
}
