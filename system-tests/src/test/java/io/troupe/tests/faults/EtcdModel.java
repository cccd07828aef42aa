package io.troupe.tests.faults;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.ArrayList;
import java.util.List;

/** Requests and responses in the form of the checkers, and on the wire. */
final class EtcdModel {
  private EtcdModel() {}

  static ByteString wire(Bytes bytes) {
    return ByteString.copyFrom(bytes.toArray());
  }

  static Bytes model(ByteString bytes) {
    return Bytes.wrap(bytes.toByteArray());
  }

  static RangeRequest wire(RangeQuery query, boolean serializable) {
    return RangeRequest.newBuilder()
        .setKey(wire(query.range().key()))
        .setRangeEnd(wire(query.range().rangeEnd()))
        .setLimit(query.limit())
        .setRevision(query.revision())
        .setSerializable(serializable)
        .build();
  }

  static PutRequest wire(Operation.Put put) {
    return PutRequest.newBuilder()
        .setKey(wire(put.key()))
        .setValue(wire(put.value()))
        .setLease(put.lease())
        .setPrevKv(put.prevKv())
        .build();
  }

  static DeleteRangeRequest wire(Operation.DeleteRange delete) {
    return DeleteRangeRequest.newBuilder()
        .setKey(wire(delete.range().key()))
        .setRangeEnd(wire(delete.range().rangeEnd()))
        .setPrevKv(delete.prevKv())
        .build();
  }

  static TxnRequest wire(Operation.Txn txn) {
    TxnRequest.Builder out = TxnRequest.newBuilder();
    txn.compares().forEach(compare -> out.addCompare(wire(compare)));
    txn.success().forEach(op -> out.addSuccess(wire(op)));
    txn.failure().forEach(op -> out.addFailure(wire(op)));
    return out.build();
  }

  private static RequestOp wire(Operation.TxnOp op) {
    RequestOp.Builder out = RequestOp.newBuilder();
    if (op instanceof Operation.Put put) {
      return out.setRequestPut(wire(put)).build();
    } else if (op instanceof Operation.DeleteRange delete) {
      return out.setRequestDeleteRange(wire(delete)).build();
    } else if (op instanceof Operation.Range range) {
      return out.setRequestRange(wire(range.query(), false)).build();
    }
    throw new IllegalArgumentException("not asked for by clients of a campaign: " + op);
  }

  private static io.etcd.jetcd.api.Compare wire(Compare compare) {
    io.etcd.jetcd.api.Compare.Builder out =
        io.etcd.jetcd.api.Compare.newBuilder()
            .setKey(wire(compare.range().key()))
            .setTarget(io.etcd.jetcd.api.Compare.CompareTarget.valueOf(compare.target().name()))
            .setResult(io.etcd.jetcd.api.Compare.CompareResult.valueOf(compare.result().name()));
    switch (compare.target()) {
      case VERSION -> out.setVersion(compare.number());
      case CREATE -> out.setCreateRevision(compare.number());
      case MOD -> out.setModRevision(compare.number());
      case VALUE -> out.setValue(wire(compare.value()));
      case LEASE, UNKNOWN ->
          throw new IllegalArgumentException("not asked for by clients of a campaign: " + compare);
    }
    return out.build();
  }

  static KeyValue model(io.etcd.jetcd.api.KeyValue kv) {
    return new KeyValue(
        model(kv.getKey()),
        kv.getCreateRevision(),
        kv.getModRevision(),
        kv.getVersion(),
        model(kv.getValue()),
        kv.getLease());
  }

  private static List<KeyValue> model(List<io.etcd.jetcd.api.KeyValue> kvs) {
    return kvs.stream().map(EtcdModel::model).toList();
  }

  static Result model(RangeResponse answer) {
    return new Result.Range(
        new RangeResult(
            answer.getHeader().getRevision(),
            model(answer.getKvsList()),
            answer.getMore(),
            answer.getCount()));
  }

  static Result model(PutResponse answer) {
    return new Result.Put(
        answer.getHeader().getRevision(), answer.hasPrevKv() ? model(answer.getPrevKv()) : null);
  }

  static Result model(DeleteRangeResponse answer) {
    return new Result.DeleteRange(
        answer.getHeader().getRevision(), answer.getDeleted(), model(answer.getPrevKvsList()));
  }

  static Result model(TxnResponse answer) {
    List<Result> responses = new ArrayList<>();
    for (ResponseOp op : answer.getResponsesList()) {
      responses.add(
          switch (op.getResponseCase()) {
            case RESPONSE_PUT -> model(op.getResponsePut());
            case RESPONSE_RANGE -> model(op.getResponseRange());
            case RESPONSE_DELETE_RANGE -> model(op.getResponseDeleteRange());
            default -> throw new IllegalArgumentException("not asked for: " + op);
          });
    }
    return new Result.Txn(answer.getHeader().getRevision(), answer.getSucceeded(), responses);
  }

  static Event model(io.etcd.jetcd.api.Event event) {
    boolean put = event.getType() == io.etcd.jetcd.api.Event.EventType.PUT;
    return new Event(
        put ? Event.Type.PUT : Event.Type.DELETE,
        model(event.getKv()),
        event.hasPrevKv() ? model(event.getPrevKv()) : null);
  }

  static io.etcd.jetcd.api.WatchCreateRequest.Builder watch(KeyRange range) {
    return io.etcd.jetcd.api.WatchCreateRequest.newBuilder()
        .setKey(wire(range.key()))
        .setRangeEnd(wire(range.rangeEnd()));
  }
}
