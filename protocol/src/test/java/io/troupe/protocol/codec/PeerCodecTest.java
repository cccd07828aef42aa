package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import io.troupe.protocol.PeerEnvelope;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.SnapshotMessage;
import io.troupe.protocol.wire.WirePeerEnvelope;
import io.troupe.protocol.wire.WireProposal;
import io.troupe.raft.ConfProposal;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class PeerCodecTest {
  private static final NodeId A = new NodeId(0x8e9e05c52164694dL);
  private static final NodeId B = new NodeId(2);
  private static final String GOLDEN = "golden/peer-messages-v2.txt";

  /** One message of each kind, by its name in the golden file. */
  private static Map<String, PeerPayload> samples() {
    Map<String, PeerPayload> all = new LinkedHashMap<>();
    raft(all, "request-vote", new PeerMessage.RequestVote(7, true, 99, 6, true));
    raft(all, "vote-reply", new PeerMessage.VoteReply(7, true, true));
    raft(
        all,
        "append",
        new PeerMessage.Append(
            7,
            99,
            6,
            List.of(
                new Entry(6, 100, Entry.Kind.NOOP, Bytes.EMPTY),
                new Entry(7, 101, Entry.Kind.OPERATION, Bytes.of(1, 2, 255)),
                new Entry(7, 102, Entry.Kind.CONF_CHANGE, Bytes.of(9))),
            100));
    raft(all, "append-empty", new PeerMessage.Append(7, 99, 6, List.of(), 98));
    raft(all, "append-reply", new PeerMessage.AppendReply(7, false, 102, 0, 0));
    raft(all, "append-reply-rejected", new PeerMessage.AppendReply(7, true, 102, 90, -1));
    raft(all, "committed", new PeerMessage.Committed(7, 100, 6));
    raft(all, "heartbeat", new PeerMessage.Heartbeat(7, 100, -3));
    raft(all, "heartbeat-reply", new PeerMessage.HeartbeatReply(7, -3));
    raft(all, "read-index", new PeerMessage.ReadIndex(7, 12345));
    raft(all, "read-index-reply", new PeerMessage.ReadIndexReply(7, 12345, 102));
    raft(
        all,
        "forwarded-proposals",
        new PeerMessage.ForwardedProposals(
            7, -8, 3, List.of(new Proposal(new RequestId(77), Bytes.of(4, 5)))));
    raft(
        all,
        "forwarded-proposals-traced",
        new PeerMessage.ForwardedProposals(
            7,
            -8,
            4,
            List.of(
                new Proposal(new RequestId(77), Bytes.of(4, 5)),
                new Proposal(
                    new RequestId(78), Bytes.of(6), false, new TraceContext(-1, -2, -3, 255)),
                new Proposal(
                    new RequestId(79), Bytes.of(7), false, new TraceContext(0, 1, 2, 0)))));
    raft(
        all,
        "forwarded-proposals-priority",
        new PeerMessage.ForwardedProposals(
            7,
            -8,
            5,
            List.of(
                new Proposal(new RequestId(77), Bytes.of(4, 5)),
                new Proposal(new RequestId(78), Bytes.of(6), true, null))));
    raft(
        all,
        "forwarded-conf-change",
        new PeerMessage.ForwardedConfChange(
            7,
            -8,
            4,
            new ConfProposal(
                new RequestId(78),
                List.of(
                    new ConfChange(
                        ConfChange.Kind.ADD_LEARNER, B, List.of("http://b:2380", "http://c:1")),
                    new ConfChange(ConfChange.Kind.REMOVE, A)),
                55)));
    raft(
        all,
        "proposals-rejected",
        new PeerMessage.ProposalsRejected(
            7, List.of(new RequestId(-1), new RequestId(2)), Refusal.TOO_MANY_REQUESTS));
    raft(
        all,
        "install-snapshot",
        new PeerMessage.InstallSnapshot(
            7,
            new SnapshotMark(
                200,
                6,
                new Membership(
                    150, Set.of(A), Set.of(B), Set.of(), Set.of(), Set.of(new NodeId(3))))));
    raft(all, "timeout-now", new PeerMessage.TimeoutNow(7));
    raft(all, "removed", new PeerMessage.Removed(7));
    all.put("hello", new PeerPayload.Hello());
    all.put("state-digest", new PeerPayload.StateDigest(7, 70_000, -2));
    all.put("snapshot-offer", new SnapshotMessage.Offer(-5, 7, Bytes.utf8("manifest")));
    all.put("snapshot-have", new SnapshotMessage.Have(-5, 3, 1L << 40));
    all.put("snapshot-chunk", new SnapshotMessage.Chunk(-5, 3, 1L << 40, Bytes.of(1, 2), -9));
    all.put("snapshot-finished", new SnapshotMessage.Finished(-5, false, "d\u00efsk"));
    return all;
  }

  private static void raft(Map<String, PeerPayload> all, String name, PeerMessage message) {
    all.put(name, new PeerPayload.Raft(message));
  }

  static List<PeerPayload> payloads() {
    return List.copyOf(samples().values());
  }

  private static PeerEnvelope envelope(PeerPayload payload) {
    return new PeerEnvelope(0xcdf818194e3a8c32L, A, B, payload);
  }

  @ParameterizedTest
  @MethodSource("payloads")
  void roundTripKeepsMessageAndSizeStaysBelowEstimate(PeerPayload payload) throws IOException {
    byte[] encoded = PeerCodec.encode(envelope(payload));
    assertThat(PeerCodec.decode(Bytes.wrap(encoded))).isEqualTo(envelope(payload));
    assertThat((long) encoded.length).isLessThanOrEqualTo(PeerCodec.sizeAtMost(envelope(payload)));
  }

  /** A kind that is added to the core needs an encoding, a sample and a golden line. */
  @Test
  void everyKindHasASample() {
    Set<Class<?>> kinds = new TreeSet<>((a, b) -> a.getName().compareTo(b.getName()));
    for (PeerPayload payload : payloads()) {
      kinds.add(
          payload instanceof PeerPayload.Raft raft
              ? raft.message().getClass()
              : payload.getClass());
    }
    assertThat(kinds)
        .containsAll(Arrays.asList(PeerMessage.class.getPermittedSubclasses()))
        .containsAll(Arrays.asList(SnapshotMessage.class.getPermittedSubclasses()));
  }

  /** As members send it that run a version without the term. */
  @Test
  void digestOfEarlierVersionHasNoTerm() throws IOException {
    String bytes =
        "02891c230f09328c3a4e1918f8cd114d696421c5059e8e190200000000000000220d687474703a2f"
            + "2f613a32333830fa010f080110f0a20419feffffffffffffff";
    assertThat(PeerCodec.decode(Bytes.wrap(HexFormat.of().parseHex(bytes))).payload())
        .isEqualTo(new PeerPayload.StateDigest(0, 70_000, -2));
  }

  /** Running members send these bytes: a change of them is a new version. */
  @Test
  void goldenBytes() throws IOException {
    StringBuilder text = new StringBuilder();
    samples()
        .forEach(
            (name, payload) ->
                text.append(name)
                    .append(' ')
                    .append(HexFormat.of().formatHex(PeerCodec.encode(envelope(payload))))
                    .append('\n'));
    if (System.getProperty("rewrite") != null) {
      Files.writeString(Path.of("src/test/resources", GOLDEN), text);
    }
    try (InputStream golden = PeerCodecTest.class.getClassLoader().getResourceAsStream(GOLDEN)) {
      assertThat(golden).isNotNull();
      assertThat(text.toString())
          .isEqualTo(new String(golden.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** As members send them that repeat their peer URL in each message. */
  @Test
  void messagesWithTheUrlOfTheSenderAreRead() throws IOException {
    String golden = "golden/peer-messages-v2-with-url.txt";
    try (InputStream in = PeerCodecTest.class.getClassLoader().getResourceAsStream(golden)) {
      assertThat(in).isNotNull();
      List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      assertThat(lines).hasSizeGreaterThan(20);
      for (String line : lines) {
        String name = line.substring(0, line.indexOf(' '));
        byte[] bytes = HexFormat.of().parseHex(line.substring(name.length() + 1));
        assertThat(PeerCodec.decode(Bytes.wrap(bytes))).isEqualTo(envelope(payload(name)));
      }
    }
  }

  /** An older member does not know the field, and accepts the proposals nevertheless. */
  @Test
  void unknownTraceFieldIsSkipped() throws Exception {
    FileDescriptorProto.Builder file = WireProposal.getDescriptor().getFile().toProto().toBuilder();
    for (DescriptorProto.Builder message : file.getMessageTypeBuilderList()) {
      if (message.getName().equals("WireProposal")) {
        message.removeField(2);
      }
    }
    Descriptor before =
        FileDescriptor.buildFrom(file.build(), new FileDescriptor[0])
            .findMessageTypeByName("WirePeerEnvelope");
    byte[] encoded = PeerCodec.encode(envelope(payload("forwarded-proposals-traced")));
    DynamicMessage envelope =
        DynamicMessage.parseFrom(before, ByteString.copyFrom(encoded, 5, encoded.length - 5));
    DynamicMessage forwarded =
        (DynamicMessage) envelope.getField(before.findFieldByName("forwarded_proposals"));
    List<?> proposals =
        (List<?>) forwarded.getField(forwarded.getDescriptorForType().findFieldByName("proposals"));
    assertThat(proposals)
        .extracting(one -> List.copyOf(((DynamicMessage) one).getAllFields().values()))
        .containsExactly(
            List.of(77L, ByteString.copyFrom(new byte[] {4, 5})),
            List.of(78L, ByteString.copyFrom(new byte[] {6})),
            List.of(79L, ByteString.copyFrom(new byte[] {7})));
  }

  /** A proposal is never lost because of its trace. */
  @Test
  void invalidTraceContextCountsAsAbsent() throws IOException {
    byte[] encoded = PeerCodec.encode(envelope(payload("forwarded-proposals-traced")));
    WirePeerEnvelope.Builder wire =
        WirePeerEnvelope.parseFrom(ByteString.copyFrom(encoded, 5, encoded.length - 5)).toBuilder();
    List<WireProposal.Builder> proposals =
        wire.getForwardedProposalsBuilder().getProposalsBuilderList();
    proposals.get(0).getTraceBuilder().setTraceHigh(1);
    proposals.get(1).getTraceBuilder().setTraceHigh(0).setTraceLow(0);
    proposals.get(2).getTraceBuilder().setFlags(0xfffff00f);
    PeerMessage.ForwardedProposals back =
        (PeerMessage.ForwardedProposals) RaftMessageCodec.get(wire.build());
    assertThat(back.proposals())
        .extracting(Proposal::trace)
        .containsExactly(null, null, new TraceContext(0, 1, 2, 0x0f));
  }

  private static PeerPayload payload(String name) {
    return Objects.requireNonNull(samples().get(name));
  }

  @ParameterizedTest
  @EnumSource(Refusal.class)
  void refusalsKeepTheirNumbers(Refusal refusal) {
    assertThat(RefusalCodes.ofCode(RefusalCodes.codeOf(refusal))).isEqualTo(refusal);
  }

  @Test
  void rejectsUnknownVersionsAndKindsAndRandomBytes() {
    byte[] other = PeerCodec.encode(envelope(new SnapshotMessage.Have(1, 2, 3)));
    other[0] = 1;
    assertThatThrownBy(() -> PeerCodec.decode(Bytes.wrap(other)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 1");
    assertThatThrownBy(() -> PeerCodec.decode(Bytes.EMPTY)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> PeerCodec.decode(Bytes.of(2))).isInstanceOf(IOException.class);
  }

  /** Raft must not trust a damaged message, whatever the damage. */
  @Test
  void damagedMessageIsRejected() {
    for (PeerPayload payload : payloads()) {
      byte[] bytes = PeerCodec.encode(envelope(payload));
      for (int bit = 0; bit < 8 * bytes.length; bit++) {
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThatThrownBy(() -> PeerCodec.decode(Bytes.wrap(bytes)))
            .as("bit %d of %s", bit, payload)
            .isInstanceOf(IOException.class);
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
      }
      byte[] cut = Arrays.copyOf(bytes, bytes.length - 1);
      assertThatThrownBy(() -> PeerCodec.decode(Bytes.wrap(cut))).isInstanceOf(IOException.class);
    }
  }
}
