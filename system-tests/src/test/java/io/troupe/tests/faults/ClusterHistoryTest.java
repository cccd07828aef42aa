package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.simulation.check.HistoryChecks;
import io.troupe.simulation.check.LinearizabilityCheck.Verdict;
import io.troupe.simulation.check.Violation;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Call;
import io.troupe.simulation.history.Request;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Histories in the form of campaigns, with the violations that the checkers must find. */
class ClusterHistoryTest {
  private static final Bytes KEY = Bytes.utf8("k1");
  private static final long LEASE = 7;
  private static final long SECOND = 1_000_000;

  private final ClusterHistory history = new ClusterHistory();

  private void add(Request request, long fromUs, long toUs, Answer answer) {
    history.add(new Call(1, request, fromUs, toUs, answer));
  }

  private static Answer done(Result result) {
    return new Answer.Done(result);
  }

  private static KeyValue written() {
    return new KeyValue(KEY, 2, 2, 1, Bytes.utf8("a"), 0);
  }

  private void put() {
    add(
        new Request.Write(new Operation.Put(KEY, Bytes.utf8("a"), 0, false, false, false)),
        100,
        200,
        done(new Result.Put(2, null)));
  }

  private void read(long fromUs, long revision, List<KeyValue> found) {
    add(
        new Request.Read(RangeQuery.of(KeyRange.single(KEY), 0), false),
        fromUs,
        fromUs + 10,
        done(new Result.Range(new RangeResult(revision, found, false, found.size()))));
  }

  private Verdict check() {
    SortedMap<Long, List<Event>> committed = new TreeMap<>();
    committed.put(2L, List.of(new Event(Event.Type.PUT, written(), null)));
    return HistoryChecks.check(history.toHistory(committed));
  }

  @Test
  void readAfterWriteIsValid() {
    put();
    read(300, 2, List.of(written()));
    assertThat(check()).isEqualTo(Verdict.HOLDS);
  }

  @Test
  void staleReadIsFound() {
    put();
    read(300, 1, List.of());
    assertThatThrownBy(this::check)
        .isInstanceOf(Violation.class)
        .hasMessageContaining("stale read");
  }

  private void grant() {
    add(
        new Request.Write(new Operation.LeaseGrant(LEASE, 3)),
        SECOND,
        SECOND + 10,
        done(new Result.LeaseGrant(2, LEASE, 3)));
  }

  @Test
  void earlyLeaseExpiryIsFound() {
    put();
    grant();
    add(new Request.KeepAlive(LEASE), 2 * SECOND, 2 * SECOND + 10, new Answer.Renewed(0));
    assertThatThrownBy(this::check)
        .isInstanceOf(Violation.class)
        .hasMessageContaining("ended before its time");
  }

  @Test
  void everyLeaseNotFoundResponseIsChecked() {
    put();
    grant();
    add(
        new Request.Write(new Operation.Put(KEY, Bytes.utf8("b"), LEASE, false, false, false)),
        3 * SECOND,
        3 * SECOND + 10,
        done(new Result.Refused(Refusal.LEASE_NOT_FOUND)));
    assertThatThrownBy(this::check)
        .isInstanceOf(Violation.class)
        .hasMessageContaining("ended before its time");
  }

  @Test
  void leaseMayExpireAfterItsTtl() {
    put();
    grant();
    add(
        new Request.Write(new Operation.LeaseRevoke(LEASE)),
        5 * SECOND,
        5 * SECOND + 10,
        done(new Result.Refused(Refusal.LEASE_NOT_FOUND)));
    assertThat(check()).isEqualTo(Verdict.HOLDS);
  }
}
