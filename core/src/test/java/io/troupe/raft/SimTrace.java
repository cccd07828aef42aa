package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.List;
import java.util.stream.Collectors;

/** Short, readable forms of effects, for scenario traces. */
final class SimTrace {
  private SimTrace() {}

  static String of(List<Entry> entries) {
    return entries.stream().map(SimTrace::of).collect(Collectors.joining(" ", "[", "]"));
  }

  private static String of(Entry entry) {
    String what =
        switch (entry.kind()) {
          case OPERATION -> entry.data().toString();
          case CONF_CHANGE -> of(MembershipCodec.decodeEntry(entry.data()).after());
          case NOOP -> entry.kind().toString();
        };
    return entry.index() + "@" + entry.term() + ":" + what;
  }

  /** Voters, then the other parts. */
  static String of(Membership membership) {
    return "voters="
        + membership.voters()
        + (membership.isJoint() ? " outgoing=" + membership.outgoing() : "")
        + (membership.leaving().isEmpty() ? "" : " leaving=" + membership.leaving())
        + (membership.learners().isEmpty() ? "" : " learners=" + membership.learners())
        + (membership.removed().isEmpty() ? "" : " removed=" + membership.removed());
  }

  static String outgoing(List<Outgoing> messages) {
    return messages.stream()
        .map(o -> o.to() + " " + of(o.message()))
        .collect(Collectors.joining("; ", "[", "]"));
  }

  static String of(PeerMessage message) {
    String body;
    if (message instanceof PeerMessage.RequestVote m) {
      body =
          (m.preVote() ? "pre " : "")
              + (m.transfer() ? "transfer " : "")
              + "last="
              + m.lastIndex()
              + "@"
              + m.lastTerm();
    } else if (message instanceof PeerMessage.VoteReply m) {
      body = (m.preVote() ? "pre " : "") + (m.granted() ? "yes" : "no");
    } else if (message instanceof PeerMessage.Append m) {
      body =
          "prev="
              + m.prevIndex()
              + "@"
              + m.prevTerm()
              + " "
              + of(m.entries())
              + " commit="
              + m.commit();
    } else if (message instanceof PeerMessage.AppendReply m) {
      body =
          m.rejected()
              ? "no at=" + m.index() + " hint=" + m.hintIndex() + "@" + m.hintTerm()
              : "ok " + m.index();
    } else if (message instanceof PeerMessage.Committed m) {
      body = m.index() + "@" + m.indexTerm();
    } else if (message instanceof PeerMessage.Heartbeat m) {
      body = "commit=" + m.commit() + (m.readContext() == 0 ? "" : " read");
    } else if (message instanceof PeerMessage.HeartbeatReply m) {
      body = m.readContext() == 0 ? "" : "read";
    } else if (message instanceof PeerMessage.ReadIndexReply m) {
      body = "index=" + m.index();
    } else if (message instanceof PeerMessage.ForwardedProposals m) {
      body =
          m.proposals().stream()
              .map(p -> p.operation().toString())
              .collect(Collectors.joining(" ", "[", "]"));
    } else if (message instanceof PeerMessage.ProposalsRejected m) {
      body = m.ids() + " " + m.reason();
    } else if (message instanceof PeerMessage.InstallSnapshot m) {
      body = "snapshot=" + m.mark().index() + "@" + m.mark().term();
    } else if (message instanceof PeerMessage.ForwardedConfChange m) {
      body = m.proposal().changes().toString();
    } else {
      body = "";
    }
    return (message.getClass().getSimpleName() + " t" + message.term() + " " + body).strip();
  }
}
