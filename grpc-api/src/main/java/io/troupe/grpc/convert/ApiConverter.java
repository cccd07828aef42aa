package io.troupe.grpc.convert;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.CompactionResponse;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.model.Bytes;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;

/** Converts the model to API messages. Byte fields share the model's arrays. */
public final class ApiConverter {
  private ApiConverter() {}

  /** Wraps the same bytes without a copy. */
  public static ByteString bytes(Bytes bytes) {
    return UnsafeByteOperations.unsafeWrap(
        bytes.backingArray(), bytes.backingOffset(), bytes.length());
  }

  /** Converts a record. */
  public static KeyValue keyValue(io.troupe.model.KeyValue kv) {
    return KeyValue.newBuilder()
        .setKey(bytes(kv.key()))
        .setCreateRevision(kv.createRevision())
        .setModRevision(kv.modRevision())
        .setVersion(kv.version())
        .setValue(bytes(kv.value()))
        .setLease(kv.lease())
        .build();
  }

  /** Converts an event, with the previous record if the model has it. */
  public static Event event(io.troupe.model.Event event) {
    Event.Builder out =
        Event.newBuilder()
            .setType(
                event.type() == io.troupe.model.Event.Type.PUT
                    ? Event.EventType.PUT
                    : Event.EventType.DELETE)
            .setKv(keyValue(event.kv()));
    io.troupe.model.KeyValue prev = event.prev();
    if (prev != null) {
      out.setPrevKv(keyValue(prev));
    }
    return out.build();
  }

  /** Builds the response of a read. */
  public static RangeResponse range(ResponseHeader header, RangeResult result) {
    RangeResponse.Builder out =
        RangeResponse.newBuilder()
            .setHeader(header)
            .setMore(result.more())
            .setCount(result.count());
    for (io.troupe.model.KeyValue kv : result.kvs()) {
      out.addKvs(keyValue(kv));
    }
    return out.build();
  }

  /** Builds the response of a put. */
  public static PutResponse put(ResponseHeader header, Result.Put result) {
    PutResponse.Builder out = PutResponse.newBuilder().setHeader(header);
    io.troupe.model.KeyValue prev = result.prev();
    if (prev != null) {
      out.setPrevKv(keyValue(prev));
    }
    return out.build();
  }

  /** Builds the response of a deletion. */
  public static DeleteRangeResponse deleteRange(ResponseHeader header, Result.DeleteRange result) {
    DeleteRangeResponse.Builder out =
        DeleteRangeResponse.newBuilder().setHeader(header).setDeleted(result.deleted());
    for (io.troupe.model.KeyValue kv : result.prevs()) {
      out.addPrevKvs(keyValue(kv));
    }
    return out.build();
  }

  /** Builds the response of a compaction. */
  public static CompactionResponse compact(ResponseHeader header) {
    return CompactionResponse.newBuilder().setHeader(header).build();
  }

  /** Builds the response of a transaction; inner headers follow R6. */
  public static TxnResponse txn(ResponseHeader header, Result.Txn result) {
    TxnResponse.Builder out =
        TxnResponse.newBuilder().setHeader(header).setSucceeded(result.succeeded());
    for (Result inner : result.responses()) {
      out.addResponses(responseOp(inner));
    }
    return out.build();
  }

  private static ResponseOp responseOp(Result inner) {
    ResponseOp.Builder out = ResponseOp.newBuilder();
    if (inner instanceof Result.Range range) {
      out.setResponseRange(range(innerHeader(range.range().revision()), range.range()));
    } else if (inner instanceof Result.Put put) {
      out.setResponsePut(put(innerHeader(put.revision()), put));
    } else if (inner instanceof Result.DeleteRange delete) {
      out.setResponseDeleteRange(deleteRange(innerHeader(delete.revision()), delete));
    } else if (inner instanceof Result.Txn txn) {
      out.setResponseTxn(txn(ResponseHeader.getDefaultInstance(), txn));
    } else {
      throw new IllegalStateException("not a part of a transaction: " + inner);
    }
    return out.build();
  }

  private static ResponseHeader innerHeader(long revision) {
    return ResponseHeader.newBuilder().setRevision(revision).build();
  }

  /** Converts an alarm. */
  public static AlarmMember alarm(io.troupe.model.AlarmMember alarm) {
    return AlarmMember.newBuilder()
        .setMemberID(alarm.member().value())
        .setAlarm(AlarmType.forNumber(alarm.type().code()))
        .build();
  }
}
