package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RangeStreamResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Events during a RangeStream. The range is much larger than the buffers of server, connection and
 * client, and the client takes one message at a time: the server reads the later chunks after the
 * action of the test.
 */
class RangeStreamConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final int KEYS = 40;
  private static final ByteString LARGE = Requests.filled(1 << 20);

  private final ApiClient client = STORE.client();

  private SlowStream<RangeRequest, RangeStreamResponse> stream(RangeRequest.Builder request) {
    return new SlowStream<>(client, Api.RANGE_STREAM, request.build());
  }

  /** The merged messages after the first. */
  private static RangeResponse rest(SlowStream<RangeRequest, RangeStreamResponse> stream) {
    RangeResponse.Builder merged = RangeResponse.newBuilder();
    stream.rest().forEach(message -> merged.mergeFrom(message.getRangeResponse()));
    return merged.build();
  }

  @BeforeEach
  void fill() {
    STORE.needs37();
    for (int i = 0; i < KEYS; i++) {
      client.put(put(STORE.key("%02d".formatted(i)), "").setValue(LARGE));
    }
  }

  private RangeRequest.Builder all() {
    return prefix(STORE.key(""));
  }

  @Test
  void compactionAbovePinnedRevisionEndsStream_GS6() {
    var stream = stream(all());
    RangeResponse first = stream.next().getRangeResponse();
    assertThat(first.getKvsCount()).isPositive().isLessThanOrEqualTo(10);
    assertThat(first.hasHeader()).isFalse();

    client.put(STORE.key("00"), "newer");
    client.compact(client.revision());

    Status end = stream.drain();
    assertThat(end.getCode()).isEqualTo(Code.OUT_OF_RANGE);
    assertThat(end.getDescription())
        .isEqualTo("etcdserver: mvcc: required revision has been compacted");
    RangeResponse rest = rest(stream);
    assertThat(first.getKvsCount() + rest.getKvsCount()).isLessThan(KEYS);
    assertThat(rest.hasHeader()).isFalse();
  }

  @Test
  void compactionUpToPinnedRevisionKeepsStream_GS6() {
    long pinned = client.revision();
    var stream = stream(all());
    RangeResponse first = stream.next().getRangeResponse();

    client.delete(Requests.deletePrefix(STORE.key("")));
    client.compact(pinned);

    assertThat(stream.drain()).isEqualTo(Status.OK);
    RangeResponse all = first.toBuilder().mergeFrom(rest(stream)).build();
    assertThat(all.getKvsCount()).isEqualTo(KEYS);
    assertThat(all.getKvsList()).allMatch(kv -> kv.getValue().equals(LARGE));
    assertThat(all.getCount()).isEqualTo(KEYS);
    assertThat(all.getMore()).isFalse();
    assertThat(all.getHeader().getRevision()).isEqualTo(pinned);
  }

  @Test
  void negativeRevisionReadsCurrentStatePerChunk_GS3() {
    long began = client.revision();
    var stream = stream(all().setRevision(-1));
    RangeResponse first = stream.next().getRangeResponse();

    client.put(STORE.key("%02d".formatted(KEYS - 1)), "newer");
    client.put(STORE.key("%02d".formatted(KEYS)), "added");
    client.compact(client.revision());

    assertThat(stream.drain()).isEqualTo(Status.OK);
    RangeResponse all = first.toBuilder().mergeFrom(rest(stream)).build();
    assertThat(all.getKvsCount()).isEqualTo(KEYS + 1);
    assertThat(all.getKvs(KEYS - 1).getValue()).isEqualTo(bytes("newer"));
    assertThat(all.getKvs(KEYS).getValue()).isEqualTo(bytes("added"));
    assertThat(all.getHeader().getRevision()).isEqualTo(began);
  }

  @Test
  void cancelledStreamReleasesServerResources() {
    var stream = stream(all());
    assertThat(stream.next().getRangeResponse().getKvsCount()).isPositive();
    stream.cancel();
    assertThat(stream.end().getCode()).isEqualTo(Code.CANCELLED);
    assertThat(client.range(all().setCountOnly(true)).getCount()).isEqualTo(KEYS);
  }
}
