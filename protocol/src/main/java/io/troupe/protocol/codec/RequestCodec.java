package io.troupe.protocol.codec;

import static io.troupe.protocol.codec.FieldBytes.shared;
import static io.troupe.protocol.codec.OperationCodec.bytes;
import static io.troupe.protocol.codec.OperationCodec.input;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.wire.WireCompact;
import io.troupe.protocol.wire.WireCompare;
import io.troupe.protocol.wire.WireDeleteRange;
import io.troupe.protocol.wire.WirePut;
import io.troupe.protocol.wire.WireRange;
import io.troupe.protocol.wire.WireTxn;
import io.troupe.protocol.wire.WireTxnOp;
import io.troupe.txn.TxnLimits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses a client's requests on keys. The log's messages have the public API's field numbers, so
 * one parser serves the gateway and the apply actor. Keys and values of puts, and compared values,
 * share the array of the request: who keeps one of them longer than the request copies it. Ranges
 * are copies, because caches of counts and streams keep them.
 *
 * <p>All methods throw {@link InvalidProtocolBufferException} for bytes that do not decode, and
 * {@link RefusedException} for a range with an unknown sort option (G1). In a transaction such a
 * range, and an operation without a request (X3), becomes {@link Operation.Invalid}.
 */
public final class RequestCodec {
  private static final RangeQuery.SortOrder[] ORDERS = RangeQuery.SortOrder.values();
  private static final RangeQuery.SortTarget[] TARGETS = RangeQuery.SortTarget.values();
  private static final Compare.Target[] COMPARE_TARGETS = Compare.Target.values();
  private static final Compare.Relation[] RELATIONS = Compare.Relation.values();
  private static final int MAX_NESTING = 100;

  /** Maximum depth of nested messages; the parser's own limit, which applies in the log, is 100. */
  private static final int MAX_DEPTH = 98;

  private RequestCodec() {}

  /** A Range request. */
  public record RangeRead(RangeQuery query, boolean serializable) {}

  /**
   * A Txn request.
   *
   * @param readOnly no put and no deletion in any branch, at any depth (X11)
   * @param serializable read only, and every range is serializable (X11)
   */
  public record TxnCall(Operation.Txn txn, boolean readOnly, boolean serializable) {}

  /** A Compact request. */
  public record CompactCall(long revision, boolean physical) {}

  /** Parses a RangeRequest. */
  public static RangeRead range(Bytes request) throws IOException {
    WireRange wire = whole(WireRange.parser(), request);
    Refusal refusal = sortRefusal(wire);
    if (refusal != null) {
      throw new RefusedException(refusal);
    }
    return new RangeRead(query(wire), wire.getSerializable());
  }

  /** Parses a PutRequest. */
  public static Operation.Put put(Bytes request) throws IOException {
    return put(whole(WirePut.parser(), request));
  }

  /** Parses a DeleteRangeRequest. */
  public static Operation.DeleteRange deleteRange(Bytes request) throws IOException {
    return deleteRange(whole(WireDeleteRange.parser(), request));
  }

  /** Parses a TxnRequest. */
  public static TxnCall txn(Bytes request) throws IOException {
    WireTxn wire = whole(WireTxn.parser(), request);
    Operation.Txn txn = txn(wire);
    boolean readOnly = TxnLimits.isReadOnly(txn);
    return new TxnCall(txn, readOnly, readOnly && isSerializable(wire));
  }

  private static boolean isSerializable(WireTxn txn) {
    return isSerializable(txn.getSuccessList()) && isSerializable(txn.getFailureList());
  }

  private static boolean isSerializable(List<WireTxnOp> branch) {
    for (WireTxnOp op : branch) {
      boolean serializable =
          op.hasRequestTxn()
              ? isSerializable(op.getRequestTxn())
              : op.getRequestRange().getSerializable();
      if (!serializable) {
        return false;
      }
    }
    return true;
  }

  /** Parses a CompactionRequest. */
  public static CompactCall compact(Bytes request) throws IOException {
    WireCompact wire = whole(WireCompact.parser(), request);
    return new CompactCall(wire.getRevision(), wire.getPhysical());
  }

  /**
   * Parses a message completely, and as strictly as it will be parsed in the log, where it is
   * nested in another message: a request that is accepted here and fails there would stop every
   * member that applies it.
   */
  private static <M> M whole(Parser<M> parser, Bytes request) throws IOException {
    CodedInputStream in = input(request);
    in.setRecursionLimit(MAX_DEPTH);
    M message = parser.parseFrom(in);
    // The parser accepts the end of a group as the end of the message.
    in.checkLastTagWas(0);
    return message;
  }

  static Operation.Put put(WirePut wire) {
    return new Operation.Put(
        shared(wire.getKey()),
        shared(wire.getValue()),
        wire.getLease(),
        wire.getPrevKv(),
        wire.getIgnoreValue(),
        wire.getIgnoreLease());
  }

  static Operation.DeleteRange deleteRange(WireDeleteRange wire) {
    return new Operation.DeleteRange(
        new KeyRange(bytes(wire.getKey()), bytes(wire.getRangeEnd())), wire.getPrevKv());
  }

  static Operation.Txn txn(WireTxn wire) throws InvalidProtocolBufferException {
    return txn(wire, 0);
  }

  private static Operation.Txn txn(WireTxn wire, int depth) throws InvalidProtocolBufferException {
    if (depth > MAX_NESTING) {
      throw new InvalidProtocolBufferException("transactions are nested too deeply");
    }
    List<Compare> compares = new ArrayList<>(wire.getCompareCount());
    for (WireCompare compare : wire.getCompareList()) {
      compares.add(compare(compare));
    }
    return new Operation.Txn(
        compares, ops(wire.getSuccessList(), depth), ops(wire.getFailureList(), depth));
  }

  private static List<Operation.TxnOp> ops(List<WireTxnOp> wire, int depth)
      throws InvalidProtocolBufferException {
    List<Operation.TxnOp> ops = new ArrayList<>(wire.size());
    for (WireTxnOp op : wire) {
      ops.add(
          switch (op.getRequestCase()) {
            case REQUEST_RANGE -> range(op.getRequestRange());
            case REQUEST_PUT -> put(op.getRequestPut());
            case REQUEST_DELETE_RANGE -> deleteRange(op.getRequestDeleteRange());
            case REQUEST_TXN -> txn(op.getRequestTxn(), depth + 1);
            case REQUEST_NOT_SET -> new Operation.Invalid(Refusal.KEY_NOT_FOUND);
          });
    }
    return ops;
  }

  private static Operation.TxnOp range(WireRange wire) {
    Refusal refusal = sortRefusal(wire);
    return refusal != null ? new Operation.Invalid(refusal) : new Operation.Range(query(wire));
  }

  private static Compare compare(WireCompare wire) {
    // The last constant of each enum is used for every unknown number.
    Compare.Target target = known(COMPARE_TARGETS, wire.getTarget());
    Compare.Relation relation = known(RELATIONS, wire.getResult());
    return new Compare(
        new KeyRange(bytes(wire.getKey()), bytes(wire.getRangeEnd())),
        target,
        relation,
        number(wire, target),
        target == Compare.Target.VALUE ? shared(wire.getValue()) : Bytes.EMPTY);
  }

  private static <E> E known(E[] values, int number) {
    int unknown = values.length - 1;
    return values[number >= 0 && number < unknown ? number : unknown];
  }

  /**
   * The union's number if it belongs to the target, else 0 (X6): protobuf returns 0 for the others.
   */
  private static long number(WireCompare wire, Compare.Target target) {
    return switch (target) {
      case VERSION -> wire.getVersion();
      case CREATE -> wire.getCreateRevision();
      case MOD -> wire.getModRevision();
      case LEASE -> wire.getLease();
      case VALUE, UNKNOWN -> 0;
    };
  }

  /**
   * Reason for which a range has no {@link #query}, or null. A missing key is the first error (G1).
   */
  private static @Nullable Refusal sortRefusal(WireRange wire) {
    int order = wire.getSortOrder();
    int target = wire.getSortTarget();
    if (order >= 0 && order < ORDERS.length && target >= 0 && target < TARGETS.length) {
      return null;
    }
    return wire.getKey().isEmpty() ? Refusal.KEY_NOT_PROVIDED : Refusal.INVALID_SORT_OPTION;
  }

  private static RangeQuery query(WireRange wire) {
    return new RangeQuery(
        new KeyRange(bytes(wire.getKey()), bytes(wire.getRangeEnd())),
        wire.getLimit(),
        wire.getRevision(),
        ORDERS[wire.getSortOrder()],
        TARGETS[wire.getSortTarget()],
        wire.getKeysOnly(),
        wire.getCountOnly(),
        wire.getMinModRevision(),
        wire.getMaxModRevision(),
        wire.getMinCreateRevision(),
        wire.getMaxCreateRevision());
  }
}
