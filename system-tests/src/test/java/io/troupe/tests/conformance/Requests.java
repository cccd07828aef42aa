package io.troupe.tests.conformance;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.WatchCreateRequest;

/** Short ways to write requests; everything else is set on the builder. */
final class Requests {
  /** A single zero byte: as range_end, "to the end" (K2). */
  static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});

  private Requests() {}

  static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  /** {@code size} arbitrary bytes. */
  static ByteString filled(int size) {
    return ByteString.copyFrom(new byte[size]);
  }

  /** range_end of all keys with {@code prefix}, as clients compute it (K4). */
  static ByteString prefixEnd(String prefix) {
    byte[] end = bytes(prefix).toByteArray();
    for (int i = end.length - 1; i >= 0; i--) {
      if (end[i] != (byte) 0xff) {
        end[i]++;
        return ByteString.copyFrom(end, 0, i + 1);
      }
    }
    return ZERO;
  }

  static PutRequest.Builder put(String key, String value) {
    return PutRequest.newBuilder().setKey(bytes(key)).setValue(bytes(value));
  }

  static RangeRequest.Builder get(String key) {
    return RangeRequest.newBuilder().setKey(bytes(key));
  }

  static RangeRequest.Builder prefix(String prefix) {
    return get(prefix).setRangeEnd(prefixEnd(prefix));
  }

  static DeleteRangeRequest.Builder delete(String key) {
    return DeleteRangeRequest.newBuilder().setKey(bytes(key));
  }

  static DeleteRangeRequest.Builder deletePrefix(String prefix) {
    return delete(prefix).setRangeEnd(prefixEnd(prefix));
  }

  static WatchCreateRequest.Builder watch(String key) {
    return WatchCreateRequest.newBuilder().setKey(bytes(key));
  }

  static WatchCreateRequest.Builder watchPrefix(String prefix) {
    return watch(prefix).setRangeEnd(prefixEnd(prefix));
  }

  static RequestOp op(PutRequest.Builder put) {
    return RequestOp.newBuilder().setRequestPut(put).build();
  }

  static RequestOp op(RangeRequest.Builder range) {
    return RequestOp.newBuilder().setRequestRange(range).build();
  }

  static RequestOp op(DeleteRangeRequest.Builder delete) {
    return RequestOp.newBuilder().setRequestDeleteRange(delete).build();
  }

  static RequestOp op(TxnRequest.Builder txn) {
    return RequestOp.newBuilder().setRequestTxn(txn).build();
  }

  /** A transaction without compares: its success branch runs. */
  static TxnRequest.Builder txn(RequestOp... success) {
    TxnRequest.Builder txn = TxnRequest.newBuilder();
    for (RequestOp op : success) {
      txn.addSuccess(op);
    }
    return txn;
  }

  /** A compare without an operand: 0 or empty by default. */
  static Compare.Builder compare(String key, CompareTarget target, CompareResult result) {
    return Compare.newBuilder().setKey(bytes(key)).setTarget(target).setResult(result);
  }
}
