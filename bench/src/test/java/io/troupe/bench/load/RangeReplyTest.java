package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class RangeReplyTest {
  private static KeyValue pair(String key, long modRevision) {
    return KeyValue.newBuilder()
        .setKey(ByteString.copyFromUtf8(key))
        .setCreateRevision(1)
        .setModRevision(modRevision)
        .setVersion(2)
        .setValue(ByteString.copyFrom(new byte[5000]))
        .build();
  }

  @Test
  void readsLastPairAndTotals() throws IOException {
    RangeResponse response =
        RangeResponse.newBuilder()
            .setHeader(ResponseHeader.newBuilder().setClusterId(1).setMemberId(-2).setRevision(500))
            .addKvs(pair("a", 7))
            .addKvs(pair("b", 9))
            .setMore(true)
            .setCount(40)
            .build();
    assertThat(RangeReply.read(response.toByteString()))
        .isEqualTo(new RangeReply(500, 2, ByteString.copyFromUtf8("b"), 9, true, 40));
  }

  @Test
  void emptyRangeHasNoLastPair() throws IOException {
    RangeResponse response =
        RangeResponse.newBuilder().setHeader(ResponseHeader.newBuilder().setRevision(3)).build();
    assertThat(RangeReply.read(response.toByteString()))
        .isEqualTo(new RangeReply(3, 0, ByteString.EMPTY, 0, false, 0));
  }
}
