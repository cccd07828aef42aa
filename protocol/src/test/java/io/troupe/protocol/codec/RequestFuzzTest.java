package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec.ClientRequest;
import io.troupe.protocol.wire.WireCompact;
import io.troupe.protocol.wire.WireCompare;
import io.troupe.protocol.wire.WireDeleteRange;
import io.troupe.protocol.wire.WirePut;
import io.troupe.protocol.wire.WireRange;
import io.troupe.protocol.wire.WireTxn;
import io.troupe.protocol.wire.WireTxnOp;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The log stores requests in the client's encoding: every member must be able to apply what the
 * gateway accepts, and as the same operation. {@code -Dtroupe.fuzz.requests} sets their number.
 */
class RequestFuzzTest {
  private static final int REQUESTS = Integer.getInteger("troupe.fuzz.requests", 100_000);
  private static final long SEED = Long.getLong("troupe.fuzz.seed", 20261122);
  private static final RequestId ID = new RequestId(7);

  /** The end of a group that was never started, of field 1. */
  private static final byte END_GROUP = 0x0c;

  private interface Parser {
    Operation parse(Bytes request) throws IOException;
  }

  private record Kind(ClientRequest request, Parser parser) {}

  private static final Kind PUT = new Kind(ClientRequest.PUT, RequestCodec::put);
  private static final Kind TXN =
      new Kind(ClientRequest.TXN, request -> RequestCodec.txn(request).txn());
  private static final List<Kind> KINDS =
      List.of(
          PUT,
          new Kind(ClientRequest.DELETE_RANGE, RequestCodec::deleteRange),
          TXN,
          new Kind(
              ClientRequest.COMPACT,
              request -> new Operation.Compact(RequestCodec.compact(request).revision())));

  private static ByteString bytes(Random random) {
    byte[] bytes = new byte[random.nextInt(6)];
    random.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  private static WirePut.Builder put(Random random) {
    return WirePut.newBuilder()
        .setKey(bytes(random))
        .setValue(bytes(random))
        .setLease(random.nextInt(3))
        .setPrevKv(random.nextBoolean());
  }

  private static WireTxn.Builder txn(Random random, int depth) {
    WireTxn.Builder txn = WireTxn.newBuilder();
    txn.addCompare(WireCompare.newBuilder().setKey(bytes(random)).setVersion(random.nextInt()));
    txn.addSuccess(WireTxnOp.newBuilder().setRequestPut(put(random)));
    txn.addFailure(
        WireTxnOp.newBuilder().setRequestRange(WireRange.newBuilder().setKey(bytes(random))));
    if (depth > 0) {
      txn.addSuccess(WireTxnOp.newBuilder().setRequestTxn(txn(random, depth - 1)));
    }
    return txn;
  }

  private static byte[] right(ClientRequest kind, Random random) {
    return switch (kind) {
      case PUT -> put(random).build().toByteArray();
      case DELETE_RANGE ->
          WireDeleteRange.newBuilder()
              .setKey(bytes(random))
              .setRangeEnd(bytes(random))
              .build()
              .toByteArray();
      case TXN -> txn(random, random.nextInt(3)).build().toByteArray();
      case COMPACT -> WireCompact.newBuilder().setRevision(random.nextLong()).build().toByteArray();
    };
  }

  private static byte[] changed(byte[] right, Random random) {
    byte[] bytes = right.clone();
    for (int changes = random.nextInt(4); changes > 0; changes--) {
      int at = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes = Arrays.copyOf(bytes, at);
        case 1 -> {
          // A tag of any field and kind, including the ends of groups.
          bytes = Arrays.copyOf(bytes, bytes.length + 1);
          bytes[bytes.length - 1] = (byte) random.nextInt(128);
        }
        default -> {
          if (bytes.length > 0) {
            bytes[at] = (byte) random.nextInt(256);
          }
        }
      }
    }
    return bytes;
  }

  @Test
  void acceptedRequestCanBeApplied() {
    Random random = new Random(SEED);
    int accepted = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Kind kind = KINDS.get(random.nextInt(KINDS.size()));
      byte[] bytes = changed(right(kind.request(), random), random);
      try {
        accepted += accepts(kind, Bytes.wrap(bytes)) ? 1 : 0;
      } catch (RuntimeException | AssertionError wrong) {
        throw new AssertionError(
            "seed=" + SEED + " request=" + i + " " + HexFormat.of().formatHex(bytes), wrong);
      }
    }
    System.out.println("requests=" + REQUESTS + " seed=" + SEED + " accepted=" + accepted);
    assertThat(accepted).isBetween(REQUESTS / 10, REQUESTS - REQUESTS / 10);
  }

  /** False if it is refused; fails if the log decodes it to another operation. */
  private static boolean accepts(Kind kind, Bytes request) {
    Operation operation;
    try {
      operation = kind.parser().parse(request);
    } catch (IOException | RefusedException refused) {
      return false;
    }
    Bytes entry = OperationCodec.embed(ID, Requester.ANONYMOUS, kind.request(), request);
    assertThat(OperationCodec.decode(entry).operation()).isEqualTo(operation);
    return true;
  }

  @Test
  void endOfGroupIsNotEndOfRequest() {
    for (Kind kind : KINDS) {
      byte[] right = right(kind.request(), new Random(SEED));
      byte[] bytes = Arrays.copyOf(right, right.length + 1);
      bytes[right.length] = END_GROUP;
      assertThatThrownBy(() -> kind.parser().parse(Bytes.wrap(bytes)))
          .isInstanceOf(InvalidProtocolBufferException.class);
    }
    assertThatThrownBy(() -> RequestCodec.range(Bytes.wrap(new byte[] {END_GROUP})))
        .isInstanceOf(InvalidProtocolBufferException.class);
  }

  /** In the log it is nested one level deeper. */
  @Test
  void acceptedDepthCanBeApplied() {
    int deepest = 0;
    Random random = new Random(SEED);
    for (int depth = 40; depth < 60; depth++) {
      WireTxn.Builder nested = WireTxn.newBuilder();
      for (int i = 0; i < depth; i++) {
        nested =
            WireTxn.newBuilder().addSuccess(WireTxnOp.newBuilder().setRequestTxn(nested.build()));
      }
      if (accepts(TXN, Bytes.wrap(nested.build().toByteArray()))) {
        deepest = depth;
      }
      // With a leaf that is one message deeper.
      nested = txn(random, depth);
      accepts(TXN, Bytes.wrap(nested.build().toByteArray()));
    }
    assertThat(deepest).isBetween(45, 55);
  }
}
