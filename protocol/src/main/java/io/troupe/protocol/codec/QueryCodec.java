package io.troupe.protocol.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.QueryFrame.Reply;
import io.troupe.protocol.StateReader;
import io.troupe.protocol.wire.WireConnected;
import io.troupe.protocol.wire.WireDone;
import io.troupe.protocol.wire.WireHashQuery;
import io.troupe.protocol.wire.WireHashed;
import io.troupe.protocol.wire.WireKnownMember;
import io.troupe.protocol.wire.WireLivenessQuery;
import io.troupe.protocol.wire.WireMembers;
import io.troupe.protocol.wire.WireMembersQuery;
import io.troupe.protocol.wire.WirePromoteQuery;
import io.troupe.protocol.wire.WireQuery;
import io.troupe.protocol.wire.WireRefused;
import io.troupe.protocol.wire.WireRemaining;
import io.troupe.protocol.wire.WireRenewQuery;
import io.troupe.protocol.wire.WireRenewed;
import io.troupe.protocol.wire.WireReply;
import io.troupe.protocol.wire.WireTimeToLiveQuery;
import io.troupe.protocol.wire.WireVersion;
import io.troupe.protocol.wire.WireVersionQuery;
import io.troupe.raft.membership.MembershipRules;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Queries between members and their replies: the head of all peer messages, then a protobuf
 * WireQuery or WireReply (docs/formats/peer-message.md).
 */
public final class QueryCodec {
  /** More than the tags and lengths around any part. */
  private static final int OVERHEAD = 64;

  private QueryCodec() {}

  /** Encodes a query; its timeout in whole milliseconds, at least one. */
  public static byte[] encode(Query question) {
    WireQuery.Builder out =
        WireQuery.newBuilder()
            .setCluster(question.clusterId())
            .setFrom(question.from().value())
            .setNumber(question.number())
            .setReplyUrl(question.replyUrl())
            .setTimeoutMs(
                (int) Math.min(Integer.MAX_VALUE, Math.max(1, question.timeout().toMillis())));
    if (question.query() instanceof PeerQuery.PromoteQuery promote) {
      out.setPromote(WirePromoteQuery.newBuilder().setMember(promote.member().value()));
    } else if (question.query() instanceof PeerQuery.LivenessQuery) {
      out.setLiveness(WireLivenessQuery.getDefaultInstance());
    } else if (question.query() instanceof PeerQuery.RenewQuery renew) {
      out.setRenew(
          WireRenewQuery.newBuilder()
              .addAllLeases(renew.leases())
              .setTerm(renew.term())
              .setSeen(renew.seen()));
    } else if (question.query() instanceof PeerQuery.TimeToLiveQuery timeToLive) {
      out.setTimeToLive(WireTimeToLiveQuery.newBuilder().setLease(timeToLive.lease()));
    } else if (question.query() instanceof PeerQuery.HashQuery hash) {
      out.setHash(
          WireHashQuery.newBuilder().setRevision(hash.revision()).setComputed(hash.computed()));
    } else if (question.query() instanceof PeerQuery.VersionQuery) {
      out.setVersion(WireVersionQuery.getDefaultInstance());
    } else if (question.query() instanceof PeerQuery.JoinQuery join) {
      out.setMembers(WireMembersQuery.newBuilder().setJoiningServer(join.server().toString()));
    } else {
      out.setMembers(WireMembersQuery.getDefaultInstance());
    }
    return PeerCodec.versioned(out.build());
  }

  /**
   * Decodes a query.
   *
   * @throws IOException if the bytes are not a query of a known version
   */
  public static Query decodeQuery(Bytes data) throws IOException {
    WireQuery wire = WireQuery.parseFrom(OperationCodec.input(PeerCodec.body(data)));
    PeerQuery query = query(wire);
    try {
      return new Query(
          wire.getCluster(),
          new NodeId(wire.getFrom()),
          wire.getNumber(),
          wire.getReplyUrl(),
          Duration.ofMillis(wire.getTimeoutMs()),
          query);
    } catch (IllegalArgumentException e) {
      throw new InvalidProtocolBufferException("bad query: " + e.getMessage(), e);
    }
  }

  private static PeerQuery query(WireQuery wire) throws InvalidProtocolBufferException {
    return switch (wire.getQueryCase()) {
      case MEMBERS -> members(wire.getMembers().getJoiningServer());
      case VERSION -> PeerQuery.VersionQuery.INSTANCE;
      case LIVENESS -> PeerQuery.LivenessQuery.INSTANCE;
      case PROMOTE -> new PeerQuery.PromoteQuery(new NodeId(wire.getPromote().getMember()));
      case RENEW ->
          new PeerQuery.RenewQuery(
              wire.getRenew().getLeasesList(),
              wire.getRenew().getTerm(),
              wire.getRenew().getSeen());
      case TIME_TO_LIVE -> new PeerQuery.TimeToLiveQuery(wire.getTimeToLive().getLease());
      case HASH ->
          new PeerQuery.HashQuery(wire.getHash().getRevision(), wire.getHash().getComputed());
      case QUERY_NOT_SET -> throw new InvalidProtocolBufferException("no query, or an unknown one");
    };
  }

  private static PeerQuery members(String joiningServer) throws InvalidProtocolBufferException {
    return joiningServer.isEmpty()
        ? PeerQuery.MembersQuery.INSTANCE
        : new PeerQuery.JoinQuery(PeerVersions.required(joiningServer));
  }

  /** Encodes a reply. */
  public static byte[] encode(Reply reply) {
    WireReply.Builder out =
        WireReply.newBuilder().setCluster(reply.clusterId()).setNumber(reply.number());
    PeerReply answer = reply.answer();
    if (answer instanceof PeerReply.Members members) {
      ClusterVersions versions = members.versions();
      WireMembers.Builder list =
          WireMembers.newBuilder()
              .setCluster(members.clusterId())
              .setClusterVersion(PeerVersions.text(versions.cluster()))
              .setStorageVersion(PeerVersions.text(versions.storage()))
              .setDowngradeTarget(PeerVersions.text(versions.downgradeTarget()));
      members.members().forEach(member -> list.addMembers(encode(member)));
      out.setMembers(list);
    } else if (answer instanceof PeerReply.Connected connected) {
      out.setConnected(
          WireConnected.newBuilder()
              .addAllConnected(values(connected.liveness().connected()))
              .addAllSteady(values(connected.liveness().steady())));
    } else if (answer instanceof PeerReply.Refused refused) {
      out.setRefused(
          WireRefused.newBuilder()
              .setReason(RefusalCodes.codeOf(refused.reason()))
              .setText(refused.text()));
    } else if (answer instanceof PeerReply.Renewed renewed) {
      out.setRenewed(
          WireRenewed.newBuilder()
              .addAllTtlSeconds(renewed.ttlSeconds())
              .setNumber(renewed.number()));
    } else if (answer instanceof PeerReply.Remaining remaining) {
      out.setRemaining(
          WireRemaining.newBuilder()
              .setRemainingSeconds(remaining.remainingSeconds())
              .setGrantedSeconds(remaining.grantedSeconds()));
    } else if (answer instanceof PeerReply.Hashed hashed) {
      out.setHashed(
          WireHashed.newBuilder()
              .setHash(hashed.hash().hash())
              .setCompactRevision(hashed.hash().compactRevision())
              .setHashRevision(hashed.hash().hashRevision())
              .setCurrentRevision(hashed.hash().currentRevision()));
    } else if (answer instanceof PeerReply.Version version) {
      out.setVersion(WireVersion.newBuilder().setServer(version.server().toString()));
    } else {
      out.setDone(WireDone.getDefaultInstance());
    }
    return PeerCodec.versioned(out.build());
  }

  /**
   * Decodes a reply.
   *
   * @throws IOException if the bytes are not a reply of a known version
   */
  public static Reply decodeReply(Bytes data) throws IOException {
    WireReply wire = WireReply.parseFrom(OperationCodec.input(PeerCodec.body(data)));
    try {
      return new Reply(wire.getCluster(), wire.getNumber(), answer(wire));
    } catch (IllegalArgumentException e) {
      throw new InvalidProtocolBufferException("bad reply: " + e.getMessage(), e);
    }
  }

  /** Upper bound of the size of an encoded reply, close to its actual size; cheap. */
  public static long sizeAtMost(PeerReply answer) {
    long size = OVERHEAD;
    if (answer instanceof PeerReply.Refused refused) {
      size += 3L * refused.text().length();
    }
    if (answer instanceof PeerReply.Members members) {
      for (PeerReply.KnownMember member : members.members()) {
        size += OVERHEAD + 3L * member.name().length();
        for (List<String> urls : List.of(member.peerUrls(), member.clientUrls())) {
          size += urls.stream().mapToLong(url -> OVERHEAD + 3L * url.length()).sum();
        }
      }
    } else if (answer instanceof PeerReply.Connected connected) {
      size += 8L * (connected.liveness().connected().size() + connected.liveness().steady().size());
    }
    if (answer instanceof PeerReply.Renewed renewed) {
      size += 10L * renewed.ttlSeconds().size();
    }
    return size;
  }

  private static PeerReply answer(WireReply wire) throws InvalidProtocolBufferException {
    return switch (wire.getAnswerCase()) {
      case MEMBERS ->
          new PeerReply.Members(
              wire.getMembers().getCluster(),
              wire.getMembers().getMembersList().stream().map(QueryCodec::decode).toList(),
              new ClusterVersions(
                  PeerVersions.version(wire.getMembers().getClusterVersion()),
                  PeerVersions.version(wire.getMembers().getStorageVersion()),
                  PeerVersions.version(wire.getMembers().getDowngradeTarget())));
      case CONNECTED ->
          new PeerReply.Connected(
              new MembershipRules.Liveness(
                  ids(wire.getConnected().getConnectedList()),
                  ids(wire.getConnected().getSteadyList())));
      case DONE -> PeerReply.Done.INSTANCE;
      case VERSION -> new PeerReply.Version(PeerVersions.required(wire.getVersion().getServer()));
      case REFUSED ->
          new PeerReply.Refused(
              RefusalCodes.ofCode(wire.getRefused().getReason()), wire.getRefused().getText());
      case RENEWED ->
          new PeerReply.Renewed(
              wire.getRenewed().getTtlSecondsList(), wire.getRenewed().getNumber());
      case REMAINING ->
          new PeerReply.Remaining(
              wire.getRemaining().getRemainingSeconds(), wire.getRemaining().getGrantedSeconds());
      case HASHED ->
          new PeerReply.Hashed(
              new StateReader.KvHash(
                  wire.getHashed().getHash(),
                  wire.getHashed().getCompactRevision(),
                  wire.getHashed().getHashRevision(),
                  wire.getHashed().getCurrentRevision()));
      case ANSWER_NOT_SET ->
          throw new InvalidProtocolBufferException("no reply, or an unknown one");
    };
  }

  private static WireKnownMember encode(PeerReply.KnownMember member) {
    return WireKnownMember.newBuilder()
        .setId(member.id().value())
        .setName(member.name())
        .addAllPeerUrls(member.peerUrls())
        .addAllClientUrls(member.clientUrls())
        .setLearner(member.learner())
        .build();
  }

  private static PeerReply.KnownMember decode(WireKnownMember wire) {
    return new PeerReply.KnownMember(
        new NodeId(wire.getId()),
        wire.getName(),
        wire.getPeerUrlsList(),
        wire.getClientUrlsList(),
        wire.getLearner());
  }

  /** Ascending, so that the bytes are deterministic. */
  private static List<Long> values(Collection<NodeId> ids) {
    return ids.stream().sorted().map(NodeId::value).toList();
  }

  private static Set<NodeId> ids(List<Long> values) {
    return values.stream().map(NodeId::new).collect(Collectors.toSet());
  }
}
