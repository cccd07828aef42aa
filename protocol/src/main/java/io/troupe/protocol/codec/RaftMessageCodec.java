package io.troupe.protocol.codec;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import io.troupe.protocol.wire.WireAppend;
import io.troupe.protocol.wire.WireAppendReply;
import io.troupe.protocol.wire.WireCommitted;
import io.troupe.protocol.wire.WireConfChange;
import io.troupe.protocol.wire.WireEntry;
import io.troupe.protocol.wire.WireForwardedConfChange;
import io.troupe.protocol.wire.WireForwardedProposals;
import io.troupe.protocol.wire.WireHeartbeat;
import io.troupe.protocol.wire.WireHeartbeatReply;
import io.troupe.protocol.wire.WireInstallSnapshot;
import io.troupe.protocol.wire.WirePeerEnvelope;
import io.troupe.protocol.wire.WireProposal;
import io.troupe.protocol.wire.WireProposalsRejected;
import io.troupe.protocol.wire.WireReadIndex;
import io.troupe.protocol.wire.WireReadIndexReply;
import io.troupe.protocol.wire.WireRemoved;
import io.troupe.protocol.wire.WireRequestVote;
import io.troupe.protocol.wire.WireTimeoutNow;
import io.troupe.protocol.wire.WireVoteReply;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.List;

/** Encodes and decodes the raft actors' messages in an envelope. */
final class RaftMessageCodec {
  private RaftMessageCodec() {}

  static void put(PeerMessage message, WirePeerEnvelope.Builder out) {
    long term = message.term();
    if (message instanceof PeerMessage.Append append) {
      out.setAppend(append(append));
    } else if (message instanceof PeerMessage.AppendReply reply) {
      out.setAppendReply(
          WireAppendReply.newBuilder()
              .setTerm(term)
              .setRejected(reply.rejected())
              .setIndex(reply.index())
              .setHintIndex(reply.hintIndex())
              .setHintTerm(reply.hintTerm()));
    } else if (message instanceof PeerMessage.Committed committed) {
      out.setCommitted(
          WireCommitted.newBuilder()
              .setTerm(term)
              .setIndex(committed.index())
              .setIndexTerm(committed.indexTerm()));
    } else if (message instanceof PeerMessage.Heartbeat heartbeat) {
      out.setHeartbeat(
          WireHeartbeat.newBuilder()
              .setTerm(term)
              .setCommit(heartbeat.commit())
              .setReadContext(heartbeat.readContext()));
    } else if (message instanceof PeerMessage.HeartbeatReply reply) {
      out.setHeartbeatReply(
          WireHeartbeatReply.newBuilder().setTerm(term).setReadContext(reply.readContext()));
    } else if (message instanceof PeerMessage.ForwardedProposals forwarded) {
      out.setForwardedProposals(proposals(forwarded));
    } else if (message instanceof PeerMessage.ProposalsRejected rejected) {
      WireProposalsRejected.Builder ids =
          WireProposalsRejected.newBuilder()
              .setTerm(term)
              .setReason(RefusalCodes.codeOf(rejected.reason()));
      rejected.ids().forEach(id -> ids.addIds(id.value()));
      out.setProposalsRejected(ids);
    } else if (message instanceof PeerMessage.ReadIndex read) {
      out.setReadIndex(WireReadIndex.newBuilder().setTerm(term).setContext(read.context()));
    } else if (message instanceof PeerMessage.ReadIndexReply reply) {
      out.setReadIndexReply(
          WireReadIndexReply.newBuilder()
              .setTerm(term)
              .setContext(reply.context())
              .setIndex(reply.index()));
    } else {
      putRare(message, out);
    }
  }

  private static void putRare(PeerMessage message, WirePeerEnvelope.Builder out) {
    long term = message.term();
    if (message instanceof PeerMessage.RequestVote request) {
      out.setRequestVote(
          WireRequestVote.newBuilder()
              .setTerm(term)
              .setPreVote(request.preVote())
              .setLastIndex(request.lastIndex())
              .setLastTerm(request.lastTerm())
              .setTransfer(request.transfer()));
    } else if (message instanceof PeerMessage.VoteReply reply) {
      out.setVoteReply(
          WireVoteReply.newBuilder()
              .setTerm(term)
              .setPreVote(reply.preVote())
              .setGranted(reply.granted()));
    } else if (message instanceof PeerMessage.ForwardedConfChange forwarded) {
      out.setForwardedConfChange(confChange(forwarded));
    } else if (message instanceof PeerMessage.InstallSnapshot install) {
      SnapshotMark mark = install.mark();
      out.setInstallSnapshot(
          WireInstallSnapshot.newBuilder()
              .setTerm(term)
              .setIndex(mark.index())
              .setIndexTerm(mark.term())
              .setMembership(view(MembershipCodec.encode(mark.membership()))));
    } else if (message instanceof PeerMessage.TimeoutNow) {
      out.setTimeoutNow(WireTimeoutNow.newBuilder().setTerm(term));
    } else if (message instanceof PeerMessage.Removed) {
      out.setRemoved(WireRemoved.newBuilder().setTerm(term));
    } else {
      throw new IllegalArgumentException("no encoding for " + message);
    }
  }

  private static WireAppend append(PeerMessage.Append append) {
    WireAppend.Builder out =
        WireAppend.newBuilder()
            .setTerm(append.term())
            .setPrevIndex(append.prevIndex())
            .setPrevTerm(append.prevTerm())
            .setCommit(append.commit());
    for (Entry entry : append.entries()) {
      out.addEntries(
          WireEntry.newBuilder()
              .setTerm(entry.term())
              .setIndex(entry.index())
              .setKind(entry.kind().code())
              .setData(view(entry.data())));
    }
    return out.build();
  }

  private static WireForwardedProposals proposals(PeerMessage.ForwardedProposals forwarded) {
    WireForwardedProposals.Builder out =
        WireForwardedProposals.newBuilder()
            .setTerm(forwarded.term())
            .setOrigin(forwarded.origin())
            .setSequence(forwarded.sequence());
    for (Proposal proposal : forwarded.proposals()) {
      WireProposal.Builder one =
          WireProposal.newBuilder()
              .setId(proposal.id().value())
              .setOperation(view(proposal.operation()))
              .setPriority(proposal.isPriority());
      TraceContext trace = proposal.trace();
      if (trace != null) {
        one.setTrace(TraceContextCodec.put(trace));
      }
      out.addProposals(one);
    }
    return out.build();
  }

  private static WireForwardedConfChange confChange(PeerMessage.ForwardedConfChange forwarded) {
    ConfProposal proposal = forwarded.proposal();
    WireForwardedConfChange.Builder out =
        WireForwardedConfChange.newBuilder()
            .setTerm(forwarded.term())
            .setOrigin(forwarded.origin())
            .setSequence(forwarded.sequence())
            .setId(proposal.id().value())
            .setBasis(proposal.basis());
    for (ConfChange change : proposal.changes()) {
      out.addChanges(
          WireConfChange.newBuilder()
              .setKind(change.kind().code())
              .setMember(change.member().value())
              .addAllPeerUrls(change.peerUrls()));
    }
    return out.build();
  }

  /**
   * Returns the message of an envelope.
   *
   * @throws IllegalArgumentException for an invalid value
   * @throws IllegalStateException if a membership in it does not decode
   */
  static PeerMessage get(WirePeerEnvelope wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case APPEND -> append(wire.getAppend());
      case APPEND_REPLY -> {
        WireAppendReply reply = wire.getAppendReply();
        yield new PeerMessage.AppendReply(
            reply.getTerm(),
            reply.getRejected(),
            reply.getIndex(),
            reply.getHintIndex(),
            reply.getHintTerm());
      }
      case COMMITTED -> {
        WireCommitted committed = wire.getCommitted();
        yield new PeerMessage.Committed(
            committed.getTerm(), committed.getIndex(), committed.getIndexTerm());
      }
      case HEARTBEAT -> {
        WireHeartbeat heartbeat = wire.getHeartbeat();
        yield new PeerMessage.Heartbeat(
            heartbeat.getTerm(), heartbeat.getCommit(), heartbeat.getReadContext());
      }
      case HEARTBEAT_REPLY ->
          new PeerMessage.HeartbeatReply(
              wire.getHeartbeatReply().getTerm(), wire.getHeartbeatReply().getReadContext());
      case FORWARDED_PROPOSALS -> proposals(wire.getForwardedProposals());
      case PROPOSALS_REJECTED -> {
        WireProposalsRejected rejected = wire.getProposalsRejected();
        yield new PeerMessage.ProposalsRejected(
            rejected.getTerm(),
            rejected.getIdsList().stream().map(RequestId::new).toList(),
            RefusalCodes.ofCode(rejected.getReason()));
      }
      case READ_INDEX ->
          new PeerMessage.ReadIndex(
              wire.getReadIndex().getTerm(), wire.getReadIndex().getContext());
      case READ_INDEX_REPLY -> {
        WireReadIndexReply reply = wire.getReadIndexReply();
        yield new PeerMessage.ReadIndexReply(reply.getTerm(), reply.getContext(), reply.getIndex());
      }
      default -> getRare(wire);
    };
  }

  private static PeerMessage getRare(WirePeerEnvelope wire) throws InvalidProtocolBufferException {
    return switch (wire.getBodyCase()) {
      case REQUEST_VOTE -> {
        WireRequestVote request = wire.getRequestVote();
        yield new PeerMessage.RequestVote(
            request.getTerm(),
            request.getPreVote(),
            request.getLastIndex(),
            request.getLastTerm(),
            request.getTransfer());
      }
      case VOTE_REPLY -> {
        WireVoteReply reply = wire.getVoteReply();
        yield new PeerMessage.VoteReply(reply.getTerm(), reply.getPreVote(), reply.getGranted());
      }
      case FORWARDED_CONF_CHANGE -> confChange(wire.getForwardedConfChange());
      case INSTALL_SNAPSHOT -> {
        WireInstallSnapshot install = wire.getInstallSnapshot();
        yield new PeerMessage.InstallSnapshot(
            install.getTerm(),
            new SnapshotMark(
                install.getIndex(),
                install.getIndexTerm(),
                MembershipCodec.decodeMembership(OperationCodec.bytes(install.getMembership()))));
      }
      case TIMEOUT_NOW -> new PeerMessage.TimeoutNow(wire.getTimeoutNow().getTerm());
      case REMOVED -> new PeerMessage.Removed(wire.getRemoved().getTerm());
      default -> throw new InvalidProtocolBufferException("no raft message");
    };
  }

  private static PeerMessage append(WireAppend append) {
    List<Entry> entries = new ArrayList<>(append.getEntriesCount());
    for (WireEntry entry : append.getEntriesList()) {
      entries.add(
          new Entry(
              entry.getTerm(),
              entry.getIndex(),
              Entry.Kind.ofCode(entry.getKind()),
              OperationCodec.bytes(entry.getData())));
    }
    return new PeerMessage.Append(
        append.getTerm(), append.getPrevIndex(), append.getPrevTerm(), entries, append.getCommit());
  }

  private static PeerMessage proposals(WireForwardedProposals forwarded) {
    List<Proposal> proposals = new ArrayList<>(forwarded.getProposalsCount());
    for (WireProposal proposal : forwarded.getProposalsList()) {
      proposals.add(
          new Proposal(
              new RequestId(proposal.getId()),
              OperationCodec.bytes(proposal.getOperation()),
              proposal.getPriority(),
              proposal.hasTrace() ? TraceContextCodec.get(proposal.getTrace()) : null));
    }
    return new PeerMessage.ForwardedProposals(
        forwarded.getTerm(), forwarded.getOrigin(), forwarded.getSequence(), proposals);
  }

  private static PeerMessage confChange(WireForwardedConfChange forwarded) {
    List<ConfChange> changes = new ArrayList<>();
    for (WireConfChange change : forwarded.getChangesList()) {
      changes.add(
          new ConfChange(
              ConfChange.Kind.ofCode(change.getKind()),
              new NodeId(change.getMember()),
              change.getPeerUrlsList()));
    }
    return new PeerMessage.ForwardedConfChange(
        forwarded.getTerm(),
        forwarded.getOrigin(),
        forwarded.getSequence(),
        new ConfProposal(new RequestId(forwarded.getId()), changes, forwarded.getBasis()));
  }

  static long sizeAtMost(PeerMessage message, int overhead) {
    long size = 0;
    if (message instanceof PeerMessage.Append append) {
      for (Entry entry : append.entries()) {
        size += entry.data().length() + overhead;
      }
    } else if (message instanceof PeerMessage.ForwardedProposals forwarded) {
      for (Proposal proposal : forwarded.proposals()) {
        size += proposal.operation().length() + overhead;
        size += proposal.trace() == null ? 0 : TraceContextCodec.MOST_BYTES;
      }
    } else if (message instanceof PeerMessage.ProposalsRejected rejected) {
      size += 8L * rejected.ids().size();
    } else if (message instanceof PeerMessage.InstallSnapshot install) {
      size += MembershipCodec.encode(install.mark().membership()).length();
    } else if (message instanceof PeerMessage.ForwardedConfChange forwarded) {
      for (ConfChange change : forwarded.proposal().changes()) {
        size += overhead;
        for (String url : change.peerUrls()) {
          size += 3L * url.length() + overhead;
        }
      }
    }
    return size;
  }

  /** Wraps the bytes without a copy. */
  static ByteString view(Bytes bytes) {
    return UnsafeByteOperations.unsafeWrap(
        bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }
}
