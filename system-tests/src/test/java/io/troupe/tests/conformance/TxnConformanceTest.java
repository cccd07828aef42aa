package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.bytes;
import static io.troupe.tests.conformance.Requests.compare;
import static io.troupe.tests.conformance.Requests.delete;
import static io.troupe.tests.conformance.Requests.deletePrefix;
import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.op;
import static io.troupe.tests.conformance.Requests.prefix;
import static io.troupe.tests.conformance.Requests.prefixEnd;
import static io.troupe.tests.conformance.Requests.put;
import static io.troupe.tests.conformance.Requests.txn;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.ResponseOp.ResponseCase;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Section 2.7: Txn. */
class TxnConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private static final String TOO_MANY = "etcdserver: too many operations in txn request";
  private static final String DUPLICATE = "etcdserver: duplicate key given in txn request";
  private static final String NO_KEY = "etcdserver: key is not provided";
  private static final String NOT_FOUND = "etcdserver: key not found";

  private final ApiClient client = STORE.client();

  private void refused(TxnRequest.Builder request, String text) {
    client.refused(Api.TXN, request.build(), Code.INVALID_ARGUMENT, text);
  }

  private boolean holds(Compare.Builder compare) {
    return client.txn(txn().addCompare(compare)).getSucceeded();
  }

  /** A request that the server must accept, whatever its result. */
  private void accepted(TxnRequest.Builder request) {
    assertThat(client.txn(request).getHeader().getRevision()).isPositive();
  }

  private RequestOp putOf(String key) {
    return op(put(STORE.key(key), "v"));
  }

  private RequestOp deleteOf(String key) {
    return op(delete(STORE.key(key)));
  }

  @Test
  void comparesChooseBranch_X1() {
    Compare.Builder missing =
        compare(STORE.key("a"), CompareTarget.VERSION, CompareResult.EQUAL).setVersion(0);
    TxnRequest request =
        TxnRequest.newBuilder()
            .addCompare(missing)
            .addSuccess(putOf("a"))
            .addSuccess(op(get(STORE.key("a"))))
            .addSuccess(deleteOf("b"))
            .addSuccess(op(txn()))
            .addFailure(op(get(STORE.key("a"))))
            .build();

    TxnResponse first = client.txn(request.toBuilder());
    assertThat(first.getSucceeded()).isTrue();
    assertThat(first.getResponsesList())
        .extracting(response -> response.getResponseCase())
        .containsExactly(
            ResponseCase.RESPONSE_PUT,
            ResponseCase.RESPONSE_RANGE,
            ResponseCase.RESPONSE_DELETE_RANGE,
            ResponseCase.RESPONSE_TXN);
    TxnResponse second = client.txn(request.toBuilder());
    assertThat(second.getSucceeded()).isFalse();
    assertThat(second.getResponsesList()).hasSize(1);
    assertThat(client.txn(txn()).getSucceeded()).isTrue();
  }

  @Test
  void operationsAreLimited_X2() {
    RequestOp read = op(get(STORE.key("a")));
    Compare compare =
        compare(STORE.key("a"), CompareTarget.VERSION, CompareResult.EQUAL).setVersion(0).build();
    accepted(TxnRequest.newBuilder().addAllSuccess(Collections.nCopies(128, read)));
    accepted(
        TxnRequest.newBuilder()
            .addAllCompare(Collections.nCopies(128, compare))
            .addAllSuccess(Collections.nCopies(128, read))
            .addAllFailure(Collections.nCopies(128, read)));
    refused(TxnRequest.newBuilder().addAllSuccess(Collections.nCopies(129, read)), TOO_MANY);
    refused(TxnRequest.newBuilder().addAllFailure(Collections.nCopies(129, read)), TOO_MANY);
    refused(TxnRequest.newBuilder().addAllCompare(Collections.nCopies(129, compare)), TOO_MANY);
  }

  @Test
  void nestedTransactionsShareOperationLimit_X2() {
    RequestOp read = op(get(STORE.key("a")));
    RequestOp nested100 = op(TxnRequest.newBuilder().addAllSuccess(Collections.nCopies(100, read)));
    TxnRequest.Builder parent28 =
        TxnRequest.newBuilder().addAllSuccess(Collections.nCopies(27, read)).addSuccess(nested100);
    accepted(parent28);
    // each nested transaction counts alone: two of them do not add up
    accepted(txn(nested100, nested100));
    refused(parent28.clone().addSuccess(read), TOO_MANY);
  }

  @Test
  void shapeOfComparesAndOperationsIsChecked_X3() {
    refused(txn().addCompare(Compare.getDefaultInstance()), NO_KEY);
    refused(txn(op(PutRequest.newBuilder())), NO_KEY);
    refused(txn(op(RangeRequest.newBuilder())), NO_KEY);
    refused(TxnRequest.newBuilder().addFailure(op(PutRequest.newBuilder())), NO_KEY);
    refused(txn(op(txn(op(PutRequest.newBuilder())))), NO_KEY);
    refused(txn(RequestOp.getDefaultInstance()), NOT_FOUND);
    refused(
        txn(op(put(STORE.key("a"), "1").setIgnoreValue(true))), "etcdserver: value is provided");
    refused(
        txn(op(put(STORE.key("a"), "1").setIgnoreLease(true).setLease(3))),
        "etcdserver: lease is provided");
  }

  @Test
  void sortOptionsAreCheckedInside_X3() {
    STORE.needs37();
    refused(txn(op(get(STORE.key("a")).setSortOrderValue(9))), "etcdserver: invalid sort option");
  }

  static Stream<Arguments> duplicates() {
    return Stream.of(
        Arguments.of("the same key put twice", "put", true),
        Arguments.of("put inside a deleted range", "delete then put", true),
        Arguments.of("order of the list does not matter", "put then delete", true),
        Arguments.of("put in a nested transaction too", "put, nested put", true),
        Arguments.of("deleted here, put in a nested one", "delete, nested put", true),
        Arguments.of("put here, deleted in a nested one", "put, nested delete", true),
        Arguments.of("siblings: delete first", "nested delete, nested put", true),
        Arguments.of("siblings: put first (quirk)", "nested put, nested delete", false),
        Arguments.of("siblings put the same", "nested put, nested put", true),
        Arguments.of("delete twice", "delete twice", false),
        Arguments.of("read and put", "read and put", false),
        Arguments.of("put in both branches", "both branches", false),
        Arguments.of("put in both branches of a nested one", "nested both branches", false),
        Arguments.of("nested: delete then, put else", "nested delete, else put", false));
  }

  private TxnRequest.Builder duplicate(String shape) {
    RequestOp put = putOf("a");
    RequestOp delete = op(deletePrefix(STORE.key("")));
    return switch (shape) {
      case "put" -> txn(put, put);
      case "delete then put" -> txn(delete, put);
      case "put then delete" -> txn(put, delete);
      case "put, nested put" -> txn(put, op(txn(put)));
      case "delete, nested put" -> txn(delete, op(txn(put)));
      case "put, nested delete" -> txn(put, op(txn(delete)));
      case "nested delete, nested put" -> txn(op(txn(delete)), op(txn(put)));
      case "nested put, nested delete" -> txn(op(txn(put)), op(txn(delete)));
      case "nested put, nested put" -> txn(op(txn(put)), op(txn(put)));
      case "delete twice" -> txn(delete, delete);
      case "read and put" -> txn(op(get(STORE.key("a"))), put, op(get(STORE.key("a"))));
      case "both branches" -> txn(put).addFailure(put);
      case "nested both branches" -> txn(op(txn(put).addFailure(put)));
      case "nested delete, else put" -> txn(op(txn(delete).addFailure(put)));
      default -> throw new IllegalArgumentException(shape);
    };
  }

  @ParameterizedTest(name = "X4 {0}")
  @MethodSource("duplicates")
  void duplicateKeysAreRefused_X4(String what, String shape, boolean refused) {
    if (refused) {
      refused(duplicate(shape), DUPLICATE);
    } else {
      accepted(duplicate(shape));
    }
  }

  @Test
  void bothBranchesAreChecked_X4() {
    refused(TxnRequest.newBuilder().addFailure(putOf("a")).addFailure(putOf("a")), DUPLICATE);
  }

  @Test
  void openEndedRangeIsNotDetectedAsOverlap_X5() {
    // key "~..." lies last, so that nothing else is deleted
    String key = "~" + STORE.key("a");
    TxnResponse done =
        client.txn(txn(op(put(key, "1")), op(delete(key).setRangeEnd(Requests.ZERO))));
    assertThat(done.getResponses(1).getResponseDeleteRange().getDeleted()).isEqualTo(1);
    assertThat(client.get(key).getCount()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = CompareTarget.class,
      names = {"VERSION", "CREATE", "MOD", "LEASE", "VALUE"})
  void everyTargetAndResult_X6(CompareTarget target) {
    long lease = client.grant(60).getID();
    String key = STORE.key("a");
    client.put(key, "b");
    client.put(put(key, "b").setLease(lease));
    for (int difference = -1; difference <= 1; difference++) {
      // the stored value compared with one that is smaller, equal, larger
      for (CompareResult result :
          new CompareResult[] {
            CompareResult.EQUAL, CompareResult.GREATER, CompareResult.LESS, CompareResult.NOT_EQUAL
          }) {
        boolean expected =
            switch (result) {
              case EQUAL -> difference == 0;
              case GREATER -> difference < 0;
              case LESS -> difference > 0;
              case NOT_EQUAL, UNRECOGNIZED -> difference != 0;
            };
        Compare.Builder compare = operand(compare(key, target, result), difference);
        assertThat(holds(compare)).as("%s", compare).isEqualTo(expected);
      }
    }
  }

  private Compare.Builder operand(Compare.Builder compare, int difference) {
    var record = client.record(STORE.key("a"));
    return switch (compare.getTarget()) {
      case VERSION -> compare.setVersion(record.getVersion() + difference);
      case CREATE -> compare.setCreateRevision(record.getCreateRevision() + difference);
      case MOD -> compare.setModRevision(record.getModRevision() + difference);
      case LEASE -> compare.setLease(record.getLease() + difference);
      case VALUE, UNRECOGNIZED -> compare.setValue(bytes("" + (char) ('b' + difference)));
    };
  }

  @Test
  void missingKeyComparesAsZeroExceptValue_X6() {
    String key = STORE.key("none");
    assertThat(holds(compare(key, CompareTarget.VERSION, CompareResult.EQUAL))).isTrue();
    assertThat(holds(compare(key, CompareTarget.CREATE, CompareResult.LESS).setCreateRevision(1)))
        .isTrue();
    assertThat(holds(compare(key, CompareTarget.MOD, CompareResult.GREATER).setModRevision(-1)))
        .isTrue();
    assertThat(holds(compare(key, CompareTarget.LEASE, CompareResult.EQUAL).setLease(0))).isTrue();
    for (CompareResult result :
        new CompareResult[] {CompareResult.EQUAL, CompareResult.NOT_EQUAL, CompareResult.LESS}) {
      assertThat(holds(compare(key, CompareTarget.VALUE, result).setValue(bytes("x")))).isFalse();
    }
  }

  @Test
  void operandOfOtherTargetIsZero_X6() {
    client.put(STORE.key("a"), "1");
    Compare.Builder compare =
        compare(STORE.key("a"), CompareTarget.VERSION, CompareResult.GREATER).setModRevision(99);
    assertThat(holds(compare)).isTrue();
    assertThat(holds(compare.setResult(CompareResult.EQUAL))).isFalse();
  }

  @Test
  void unknownNumbersAreNotRefused_X6() {
    client.put(STORE.key("a"), "1");
    Compare.Builder target = Compare.newBuilder().setKey(bytes(STORE.key("a"))).setTargetValue(9);
    assertThat(holds(target.setResult(CompareResult.EQUAL))).isTrue();
    assertThat(holds(target.setResult(CompareResult.LESS))).isFalse();
    Compare.Builder result =
        Compare.newBuilder()
            .setKey(bytes(STORE.key("a")))
            .setTarget(CompareTarget.VERSION)
            .setVersion(77)
            .setResultValue(9);
    assertThat(holds(result)).isTrue();
    assertThat(
            holds(
                result
                    .setKey(bytes(STORE.key("none")))
                    .setTarget(CompareTarget.VALUE)
                    .setValue(bytes(""))))
        .isFalse();
  }

  @Test
  void rangeCompareMustHoldForEveryKey_X7() {
    client.put(STORE.key("a"), "1");
    client.put(STORE.key("b"), "1");
    Compare.Builder all =
        compare(STORE.key(""), CompareTarget.VERSION, CompareResult.EQUAL)
            .setVersion(1)
            .setRangeEnd(prefixEnd(STORE.key("")));
    assertThat(holds(all)).isTrue();
    client.put(STORE.key("b"), "2");
    assertThat(holds(all)).isFalse();

    Compare.Builder empty =
        compare(STORE.key("x"), CompareTarget.VERSION, CompareResult.EQUAL)
            .setRangeEnd(prefixEnd(STORE.key("x")));
    assertThat(holds(empty)).isTrue();
    assertThat(holds(empty.setTarget(CompareTarget.VALUE).setValue(bytes("")))).isFalse();
  }

  @Test
  void nestedComparesSeeStateBefore_X8() {
    TxnRequest.Builder nested =
        txn(putOf("then"))
            .addCompare(compare(STORE.key("a"), CompareTarget.VERSION, CompareResult.GREATER))
            .addFailure(putOf("else"));
    TxnResponse done = client.txn(txn(putOf("a"), op(nested)));
    assertThat(done.getResponses(1).getResponseTxn().getSucceeded()).isFalse();
    assertThat(client.get(STORE.key("else")).getCount()).isEqualTo(1);
    assertThat(client.get(STORE.key("then")).getCount()).isZero();
  }

  @Test
  void rangesSeeEarlierWritesOfSameTransaction_X9() {
    client.put(STORE.key("a"), "old");
    TxnResponse done =
        client.txn(
            txn(
                op(prefix(STORE.key(""))),
                op(put(STORE.key("b"), "new")),
                op(prefix(STORE.key(""))),
                op(delete(STORE.key("a"))),
                op(prefix(STORE.key(""))),
                op(txn(op(prefix(STORE.key("")))))));

    assertThat(done.getResponses(0).getResponseRange().getCount()).isEqualTo(1);
    assertThat(done.getResponses(2).getResponseRange().getCount()).isEqualTo(2);
    assertThat(done.getResponses(2).getResponseRange().getKvs(1).getModRevision())
        .isEqualTo(done.getHeader().getRevision());
    assertThat(done.getResponses(4).getResponseRange().getCount()).isEqualTo(1);
    assertThat(
            done.getResponses(5)
                .getResponseTxn()
                .getResponses(0)
                .getResponseRange()
                .getKvs(0)
                .getValue())
        .isEqualTo(bytes("new"));
  }

  @Test
  void failureAbortsWholeTransaction_X10() {
    long before = client.put(STORE.key("a"), "1").getHeader().getRevision();
    RequestOp write = putOf("b");
    client.refused(
        Api.TXN,
        txn(write, op(get(STORE.key("a")).setRevision(before + 1))).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    client.refused(
        Api.TXN,
        txn(write, op(put(STORE.key("c"), "1").setLease(4711))).build(),
        Code.NOT_FOUND,
        "etcdserver: requested lease not found");
    refused(txn(write, op(put(STORE.key("none"), "").setIgnoreValue(true))), NOT_FOUND);
    refused(txn(write, op(txn(op(put(STORE.key("none"), "1").setIgnoreLease(true))))), NOT_FOUND);
    assertThat(client.revision()).isEqualTo(before);
    assertThat(client.get(STORE.key("b")).getCount()).isZero();
  }

  @Test
  void onlyExecutedBranchIsChecked_X10() {
    accepted(txn(putOf("a")).addFailure(op(put(STORE.key("none"), "").setIgnoreValue(true))));
  }

  @Test
  void compactedAndNegativeRevisionsAreChecked_X10() {
    long first = client.put(STORE.key("a"), "1").getHeader().getRevision();
    client.put(STORE.key("a"), "2");
    client.compact(first + 1);
    String text = "etcdserver: mvcc: required revision has been compacted";
    for (long revision : new long[] {first, -1}) {
      RequestOp read = op(get(STORE.key("a")).setRevision(revision));
      client.refused(Api.TXN, txn(read).build(), Code.OUT_OF_RANGE, text);
      client.refused(Api.TXN, txn(putOf("b"), read).build(), Code.OUT_OF_RANGE, text);
    }
  }

  @Test
  void readOnlyTransactionsReadCurrentRevision_X11() {
    long before = client.put(STORE.key("a"), "1").getHeader().getRevision();
    TxnResponse read =
        client.txn(
            txn(op(get(STORE.key("a"))), op(get(STORE.key("a")).setSerializable(true)))
                .addFailure(op(get(STORE.key("a")))));
    assertThat(read.getHeader().getRevision()).isEqualTo(before);
    assertThat(read.getResponses(0).getResponseRange().getHeader().getRevision()).isEqualTo(before);
    assertThat(client.txn(txn()).getHeader().getRevision()).isEqualTo(before);
  }

  @Test
  void headerIsNewOrCurrentRevision_X12() {
    long before = client.put(STORE.key("a"), "1").getHeader().getRevision();
    assertThat(client.txn(txn(deleteOf("none"))).getHeader().getRevision()).isEqualTo(before);
    assertThat(client.txn(txn(putOf("b"), deleteOf("a"))).getHeader().getRevision())
        .isEqualTo(before + 1);
  }

  @Test
  void prevKvAndDeletedInsideTransaction_X13() {
    client.put(STORE.key("a"), "1");
    TxnResponse done =
        client.txn(
            txn(
                op(put(STORE.key("b"), "2").setPrevKv(true)),
                op(txn(op(delete(STORE.key("a")).setPrevKv(true))))));
    assertThat(done.getResponses(0).getResponsePut().hasPrevKv()).isFalse();
    TxnResponse nested = done.getResponses(1).getResponseTxn();
    assertThat(nested.getSucceeded()).isTrue();
    assertThat(nested.getResponses(0).getResponseDeleteRange().getPrevKvs(0).getValue())
        .isEqualTo(bytes("1"));
  }

  @Test
  void transactionAboveMaxRequestBytesIsRefused_X15() {
    PutRequest.Builder big = put(STORE.key("a"), "").setValue(Requests.filled(800_000));
    refused(
        txn(op(big), op(big.clone().setKey(bytes(STORE.key("b"))))),
        "etcdserver: request is too large");
  }
}
