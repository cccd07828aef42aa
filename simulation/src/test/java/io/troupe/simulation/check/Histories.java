package io.troupe.simulation.check;

import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.ArrayList;
import java.util.List;

/** Builds histories by hand. Times are in the order begin, end. */
final class Histories {
  static final Bytes A = Bytes.utf8("a");
  static final Bytes B = Bytes.utf8("b");

  final List<Call> calls = new ArrayList<>();

  static KeyValue kv(Bytes key, long create, long mod, long version, String value) {
    return new KeyValue(key, create, mod, version, Bytes.utf8(value), 0);
  }

  static Event put(KeyValue kv) {
    return new Event(Event.Type.PUT, kv, null);
  }

  static Operation.Put putOf(Bytes key, String value) {
    return new Operation.Put(key, Bytes.utf8(value), 0, false, false, false);
  }

  static Operation.Put leasedPut(Bytes key, String value, long lease) {
    return new Operation.Put(key, Bytes.utf8(value), lease, false, false, false);
  }

  Histories put(long begin, long end, Bytes key, String value, long revision) {
    return done(begin, end, putOf(key, value), new Result.Put(revision, null));
  }

  Histories unknown(long begin, Operation operation) {
    return add(begin, Call.NEVER, new Request.Write(operation), Answer.Unknown.INSTANCE);
  }

  Histories done(long begin, long end, Operation operation, Result result) {
    return add(begin, end, new Request.Write(operation), new Answer.Done(result));
  }

  Histories refused(long begin, long end, Operation operation, Refusal reason) {
    return add(begin, end, new Request.Write(operation), new Answer.Refused(reason));
  }

  Histories read(long begin, long end, Bytes key, long header, KeyValue... found) {
    return read(begin, end, 0, key, header, false, 1, found);
  }

  Histories serializable(
      long begin, long end, long session, Bytes key, long header, KeyValue... found) {
    return read(begin, end, 0, key, header, true, session, found);
  }

  Histories read(
      long begin,
      long end,
      long at,
      Bytes key,
      long header,
      boolean serializable,
      long session,
      KeyValue... found) {
    Result.Range result =
        new Result.Range(new RangeResult(header, List.of(found), false, found.length));
    Request.Read read = new Request.Read(RangeQuery.of(KeyRange.single(key), at), serializable);
    calls.add(new Call(session, read, begin, end, new Answer.Done(result)));
    return this;
  }

  Histories readRefused(long begin, long end, Bytes key, long at, Refusal reason) {
    return add(
        begin,
        end,
        new Request.Read(RangeQuery.of(KeyRange.single(key), at), false),
        new Answer.Done(new Result.Refused(reason)));
  }

  Histories renewed(long begin, long end, long lease, long ttl) {
    return add(begin, end, new Request.KeepAlive(lease), new Answer.Renewed(ttl));
  }

  Histories granted(long begin, long end, long lease, long ttl) {
    return done(
        begin, end, new Operation.LeaseGrant(lease, ttl), new Result.LeaseGrant(1, lease, ttl));
  }

  private Histories add(long begin, long end, Request request, Answer answer) {
    calls.add(new Call(1, request, begin, end, answer));
    return this;
  }

  /** A transaction that puts if the key was last changed at a revision, and reads it otherwise. */
  static Operation.Txn putIfModified(Bytes key, long mod, String value) {
    return new Operation.Txn(
        List.of(
            new Compare(
                KeyRange.single(key),
                Compare.Target.MOD,
                Compare.Relation.EQUAL,
                mod,
                Bytes.EMPTY)),
        List.of(putOf(key, value)),
        List.of(new Operation.Range(RangeQuery.of(KeyRange.single(key), 0))));
  }
}
