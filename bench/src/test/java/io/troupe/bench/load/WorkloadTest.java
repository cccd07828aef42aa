package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

class WorkloadTest {
  private final Keyspace keyspace = new Keyspace(1000, 256, 1);

  private static Reply reply(TxnResponse response) {
    return new Reply(response.getSerializedSize(), response.toByteString());
  }

  @Test
  void fillPutsEveryKeyInTurnAndEnds() throws IOException {
    FillKeys fill = FillKeys.singly(keyspace, 1001);
    byte[] last = new byte[0];
    for (int i = 0; i < 1001; i++) {
      last = fill.next();
      assertThat(last).isNotNull();
    }
    assertThat(PutRequest.parseFrom(last).getKey()).isEqualTo(keyspace.key(0));
    assertThat(fill.next()).isNull();
  }

  @Test
  void batchesPutEveryKeyOnceAndStayBelowRequestLimit() throws IOException {
    Keyspace large = new Keyspace(250, 16_384, 1);
    FillKeys fill = FillKeys.batched(large);
    Set<ByteString> keys = new HashSet<>();
    Set<ByteString> values = new HashSet<>();
    int puts = 0;
    for (byte[] request = fill.next(); request != null; request = fill.next()) {
      assertThat(request.length).isLessThan(1_100_000);
      for (RequestOp op : TxnRequest.parseFrom(request).getSuccessList()) {
        keys.add(op.getRequestPut().getKey());
        values.add(op.getRequestPut().getValue());
        puts++;
      }
    }
    assertThat(puts).isEqualTo(250);
    assertThat(keys).hasSize(250).contains(large.key(0), large.key(249));
    assertThat(values).hasSize(250);
  }

  @Test
  void requestsThatDoNotFitTheHeapAreEncodedWhenSent() throws IOException {
    Keyspace large = new Keyspace(2_500_000, 4096, 1);
    byte[] put = large.puts().apply(2_499_999);
    assertThat(PutRequest.parseFrom(put).getKey().toStringUtf8()).isEqualTo("bench/02499999");
    assertThat(PutRequest.parseFrom(put).getValue().size()).isEqualTo(4096);
  }

  @Test
  void rangesSpanSameNumberOfKeysEverywhere() throws IOException {
    IntFunction<byte[]> ranges = keyspace.ranges(100);
    RangeRequest tail = RangeRequest.parseFrom(ranges.apply(999));
    assertThat(tail.getKey()).isEqualTo(keyspace.key(900));
    assertThat(Keyspace.index(tail.getRangeEnd())).isEqualTo(1000);
  }

  @Test
  void shortReplyToRangeIsInvalid() {
    RandomRequests reads =
        new RandomRequests(
            EtcdMethod.RANGE, 1000, keyspace.reads(false), 256, new SplittableRandom(1));
    assertThat(reads.accept(new Reply(40, Reply.NONE.body()))).isFalse();
    assertThat(reads.accept(new Reply(300, Reply.NONE.body()))).isTrue();
  }

  @Test
  void clientsCompareOwnKeysWithLastSeenRevision() throws IOException {
    long[] modRevisions = new long[1000];
    Set<String> first = new HashSet<>();
    Set<String> second = new HashSet<>();
    CompareAndPut a = new CompareAndPut(keyspace, modRevisions, 0, 3, new SplittableRandom(1));
    CompareAndPut b = new CompareAndPut(keyspace, modRevisions, 1, 3, new SplittableRandom(2));
    for (int i = 0; i < 2000; i++) {
      first.add(TxnRequest.parseFrom(a.next()).getCompare(0).getKey().toStringUtf8());
      second.add(TxnRequest.parseFrom(b.next()).getCompare(0).getKey().toStringUtf8());
    }
    assertThat(first).doesNotContainAnyElementsOf(second);

    TxnRequest request = TxnRequest.parseFrom(a.next());
    int key = Keyspace.index(request.getCompare(0).getKey());
    TxnResponse done =
        TxnResponse.newBuilder()
            .setHeader(ResponseHeader.newBuilder().setRevision(77))
            .setSucceeded(true)
            .build();
    assertThat(a.accept(reply(done))).isTrue();
    assertThat(modRevisions[key]).isEqualTo(77);
    assertThat(a.accept(reply(done.toBuilder().setSucceeded(false).build()))).isFalse();
  }

  @Test
  void mixDrawsNineReadsPerPut() {
    Workload reads =
        new RandomRequests(
            EtcdMethod.RANGE, 1000, keyspace.reads(false), 256, new SplittableRandom(1));
    Workload puts =
        new RandomRequests(EtcdMethod.PUT, 1000, keyspace.puts(), 1, new SplittableRandom(2));
    MixedRequests mix = new MixedRequests(reads, puts, 10, new SplittableRandom(3));
    int writes = 0;
    for (int i = 0; i < 10_000; i++) {
      byte[] unused = mix.next();
      writes += mix.method() == EtcdMethod.PUT ? 1 : 0;
    }
    assertThat(writes).isBetween(900, 1100);
  }

  @Test
  void settingsErrorNamesInvalidOption() {
    assertThatThrownBy(
            () ->
                new LoadSettings(
                    List.of(11),
                    List.of(1),
                    1,
                    1,
                    1,
                    10,
                    256,
                    Duration.ZERO,
                    Duration.ofSeconds(1),
                    1,
                    1,
                    OpenSizes.DEFAULT,
                    Duration.ZERO,
                    Duration.ZERO,
                    1))
        .hasMessageContaining("--clients");
    assertThatThrownBy(
            () ->
                new LoadSettings(
                    List.of(1),
                    List.of(1),
                    1,
                    1,
                    1,
                    10,
                    8,
                    Duration.ZERO,
                    Duration.ofSeconds(1),
                    1,
                    1,
                    OpenSizes.DEFAULT,
                    Duration.ZERO,
                    Duration.ZERO,
                    1))
        .hasMessageContaining("--value-bytes");
  }
}
