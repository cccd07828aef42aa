package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

class GrpcFramesTest {
  private static final PutRequest PUT =
      PutRequest.newBuilder()
          .setKey(com.google.protobuf.ByteString.copyFromUtf8("k"))
          .setValue(com.google.protobuf.ByteString.copyFrom(new byte[200]))
          .build();

  @Test
  void frameContainsMessage() {
    ByteString frame = GrpcFrames.frame(PUT);
    assertThat(GrpcFrames.single(frame, () -> "", 1000)).isEqualTo(Bytes.wrap(PUT.toByteArray()));
  }

  @Test
  void tooLargeMessageIsRejectedWithGrpcText_T3() {
    ByteString frame = GrpcFrames.frame(PUT);
    assertThatThrownBy(() -> GrpcFrames.single(frame, () -> "", 100))
        .isInstanceOfSatisfying(
            GrpcException.class,
            e ->
                assertThat(e.status())
                    .isEqualTo(
                        new GrpcStatus(
                            GrpcStatus.RESOURCE_EXHAUSTED,
                            "grpc: received message larger than max ("
                                + PUT.getSerializedSize()
                                + " vs. 100)")));
  }

  @Test
  void lengthsAreUnsigned() {
    byte[] huge = {0, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff};
    assertThatThrownBy(() -> GrpcFrames.single(ByteString.fromArray(huge), () -> "", 100))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("4294967295 vs. 100");
  }

  @Test
  void malformedBodiesAreRejected() {
    ByteString frame = GrpcFrames.frame(PUT);
    for (ByteString broken :
        new ByteString[] {ByteString.emptyByteString(), frame.dropRight(1), frame.concat(frame)}) {
      assertThatThrownBy(() -> GrpcFrames.single(broken, () -> "", 1000))
          .isInstanceOfSatisfying(
              GrpcException.class,
              e -> assertThat(e.status().code()).isEqualTo(GrpcStatus.INTERNAL));
    }
  }

  @Test
  void gzipIsDecompressedUpToLimit() throws IOException {
    ByteString packed = gzipFrame(PUT.toByteArray());
    assertThat(GrpcFrames.single(packed, () -> "gzip", 1000))
        .isEqualTo(Bytes.wrap(PUT.toByteArray()));
    ByteString bomb = gzipFrame(new byte[1_000_000]);
    assertThatThrownBy(() -> GrpcFrames.single(bomb, () -> "gzip", 2000))
        .isInstanceOfSatisfying(
            GrpcException.class,
            e -> assertThat(e.status().code()).isEqualTo(GrpcStatus.RESOURCE_EXHAUSTED));
    assertThatThrownBy(() -> GrpcFrames.single(packed, () -> "snappy", 1000))
        .isInstanceOfSatisfying(
            GrpcException.class,
            e -> assertThat(e.status().code()).isEqualTo(GrpcStatus.UNIMPLEMENTED));
  }

  private static ByteString gzipFrame(byte[] message) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(message);
    }
    byte[] header = new byte[GrpcFrames.HEADER];
    GrpcFrames.putLength(header, 0, packed.size());
    header[0] = 1;
    return ByteString.fromArray(header).concat(ByteString.fromArray(packed.toByteArray()));
  }

  @Test
  void statusTextsArePercentEncoded() {
    assertThat(GrpcResponses.percentEncode("100% gr\u00fcn\n")).isEqualTo("100%25 gr%C3%BCn%0A");
  }

  @Test
  void timeoutsAreParsedInAllUnits() {
    assertThat(CallMetadata.timeout("2S")).contains(Duration.ofSeconds(2));
    assertThat(CallMetadata.timeout("150m")).contains(Duration.ofMillis(150));
    assertThat(CallMetadata.timeout("7u")).contains(Duration.ofNanos(7000));
    for (String wrong : new String[] {"", "S", "-1S", "123456789S", "1x"}) {
      assertThat(CallMetadata.timeout(wrong)).as(wrong).isEqualTo(Optional.empty());
    }
  }
}
