package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.protocol.PeerQuery;
import io.troupe.protocol.PeerReply;
import io.troupe.protocol.QueryFrame;
import io.troupe.protocol.QueryFrame.Query;
import io.troupe.protocol.QueryFrame.Reply;
import io.troupe.protocol.StateReader;
import io.troupe.raft.membership.MembershipRules;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class QueryCodecTest {
  private static final NodeId A = new NodeId(0x8e9e05c52164694dL);
  private static final NodeId B = new NodeId(2);
  private static final String GOLDEN = "golden/peer-queries-v2.txt";

  /** One query of each kind, by its name in the golden file. */
  private static Map<String, QueryFrame> samples() {
    Map<String, QueryFrame> all = new LinkedHashMap<>();
    all.put("members-query", question(PeerQuery.MembersQuery.INSTANCE));
    all.put(
        "members-query-of-nobody",
        new Query(
            QueryFrame.NO_CLUSTER,
            NodeId.NONE,
            8,
            "http://a:2380",
            Duration.ofMillis(1),
            PeerQuery.MembersQuery.INSTANCE));
    all.put("promote-query", question(new PeerQuery.PromoteQuery(B)));
    all.put("liveness-query", question(PeerQuery.LivenessQuery.INSTANCE));
    all.put(
        "members",
        reply(
            new PeerReply.Members(
                5,
                List.of(
                    new PeerReply.KnownMember(
                        B, "", List.of("http://b:2", "http://b:1"), List.of(), true),
                    new PeerReply.KnownMember(
                        A, "ä", List.of("http://a:1"), List.of("http://c:1"), false)))));
    all.put(
        "connected",
        reply(new PeerReply.Connected(new MembershipRules.Liveness(Set.of(A, B), Set.of(B)))));
    all.put("done", reply(PeerReply.Done.INSTANCE));
    all.put("renew-query", question(new PeerQuery.RenewQuery(List.of(1L, -2L), 0, 0)));
    all.put("renew-query-of-term", question(new PeerQuery.RenewQuery(List.of(1L, -2L), 7, 300)));
    all.put("time-to-live-query", question(new PeerQuery.TimeToLiveQuery(-2)));
    all.put("renewed", reply(new PeerReply.Renewed(List.of(60L, 0L), 0)));
    all.put(
        "renewed-not-yet", reply(new PeerReply.Renewed(List.of(PeerReply.Renewed.NOT_YET), 301)));
    all.put("remaining", reply(new PeerReply.Remaining(-1, 0)));
    all.put("refused", reply(new PeerReply.Refused(Refusal.LEARNER_NOT_READY)));
    all.put("hash-query", question(new PeerQuery.HashQuery(17, false)));
    all.put("computed-hash-query", question(new PeerQuery.HashQuery(17, true)));
    all.put("hashed", reply(new PeerReply.Hashed(new StateReader.KvHash(-5, -1, 17, 20))));
    all.put("version-query", question(PeerQuery.VersionQuery.INSTANCE));
    all.put("version", reply(new PeerReply.Version(new EtcdVersion(3, 7, 1))));
    EtcdVersion target = new EtcdVersion(3, 6, 0);
    all.put("join-query", question(new PeerQuery.JoinQuery(new EtcdVersion(3, 7, 1))));
    all.put(
        "members-with-versions",
        reply(new PeerReply.Members(5, List.of(), new ClusterVersions(target, target, target))));
    all.put(
        "refused-with-text",
        reply(new PeerReply.Refused(Refusal.INCOMPATIBLE_VERSION, "wh\u00e4")));
    return all;
  }

  private static Query question(PeerQuery query) {
    return new Query(0xcdf818194e3a8c32L, A, -7, "http://a:2380", Duration.ofMillis(7250), query);
  }

  private static Reply reply(PeerReply answer) {
    return new Reply(0xcdf818194e3a8c32L, -7, answer);
  }

  static List<QueryFrame> frames() {
    return List.copyOf(samples().values());
  }

  private static byte[] encode(QueryFrame frame) {
    return frame instanceof Query question
        ? QueryCodec.encode(question)
        : QueryCodec.encode((Reply) frame);
  }

  private static QueryFrame decode(QueryFrame kind, byte[] bytes) throws IOException {
    return kind instanceof Query
        ? QueryCodec.decodeQuery(Bytes.wrap(bytes))
        : QueryCodec.decodeReply(Bytes.wrap(bytes));
  }

  @ParameterizedTest
  @MethodSource("frames")
  void roundTripKeepsMessageAndSizeStaysBelowEstimate(QueryFrame frame) throws IOException {
    byte[] encoded = encode(frame);
    assertThat(decode(frame, encoded)).isEqualTo(frame);
    if (frame instanceof Reply reply) {
      assertThat((long) encoded.length).isLessThanOrEqualTo(QueryCodec.sizeAtMost(reply.answer()));
    }
  }

  /** A kind that is added needs an encoding, a sample and a golden line. */
  @Test
  void everyKindHasASample() {
    Set<Class<?>> kinds =
        frames().stream()
            .map(
                frame ->
                    frame instanceof Query question
                        ? question.query().getClass()
                        : ((Reply) frame).answer().getClass())
            .collect(Collectors.toSet());
    assertThat(kinds)
        .containsAll(Arrays.asList(PeerQuery.class.getPermittedSubclasses()))
        .containsAll(Arrays.asList(PeerReply.class.getPermittedSubclasses()));
  }

  /** Running members send these bytes: a change of them is a new version. */
  @Test
  void goldenBytes() throws IOException {
    StringBuilder text = new StringBuilder();
    samples()
        .forEach(
            (name, frame) ->
                text.append(name)
                    .append(' ')
                    .append(HexFormat.of().formatHex(encode(frame)))
                    .append('\n'));
    if (System.getProperty("rewrite") != null) {
      Files.writeString(Path.of("src/test/resources", GOLDEN), text);
    }
    try (InputStream golden = QueryCodecTest.class.getClassLoader().getResourceAsStream(GOLDEN)) {
      assertThat(golden).isNotNull();
      assertThat(text.toString())
          .isEqualTo(new String(golden.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void rejectsUnknownVersionsAndKindsAndRandomBytes() {
    byte[] other = encode(question(PeerQuery.LivenessQuery.INSTANCE));
    other[0] = 1;
    assertThatThrownBy(() -> QueryCodec.decodeQuery(Bytes.wrap(other)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 1");
    assertThatThrownBy(() -> QueryCodec.decodeQuery(Bytes.of(2))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> QueryCodec.decodeReply(Bytes.of(2))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> QueryCodec.decodeReply(Bytes.EMPTY)).isInstanceOf(IOException.class);
  }

  @Test
  void damagedFrameIsRejected() {
    for (QueryFrame frame : frames()) {
      byte[] bytes = encode(frame);
      for (int bit = 0; bit < 8 * bytes.length; bit++) {
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThatThrownBy(() -> decode(frame, bytes))
            .as("bit %d of %s", bit, frame)
            .isInstanceOf(IOException.class);
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
      }
    }
  }
}
