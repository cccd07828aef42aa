package io.troupe.protocol.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.DecodedOperation;
import io.troupe.model.EtcdVersion;
import io.troupe.model.KeyRange;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import io.troupe.model.Permission;
import io.troupe.model.RangeQuery;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec.ClientRequest;
import io.troupe.protocol.wire.WireCompact;
import io.troupe.protocol.wire.WireCompare;
import io.troupe.protocol.wire.WirePut;
import io.troupe.protocol.wire.WireRange;
import io.troupe.protocol.wire.WireTxn;
import io.troupe.protocol.wire.WireTxnOp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OperationCodecTest {
  private static final RequestId ID = new RequestId(0x8e9e_0001_0203_0405L);
  private static final NodeId MEMBER = new NodeId(0x8e9e05c52164694dL);
  private static final Requester USER = new Requester.User("n\u00e4me", 300);
  private static final Operation LEASE_REVOKE = new Operation.LeaseRevoke(77);

  /**
   * The encoding of version 1 on disk. These bytes are in existing logs: a change of them is a new
   * version.
   */
  private static final String GOLDEN_PUT =
      "01" + "090504030201009e8e" + "120a" + "0a016b" + "120176" + "1807" + "2001";

  @Test
  void goldenPut() {
    WirePut put =
        WirePut.newBuilder()
            .setKey(ByteString.copyFromUtf8("k"))
            .setValue(ByteString.copyFromUtf8("v"))
            .setLease(7)
            .setPrevKv(true)
            .build();
    Bytes record =
        OperationCodec.embed(
            ID, Requester.ANONYMOUS, ClientRequest.PUT, Bytes.wrap(put.toByteArray()));
    assertThat(HexFormat.of().formatHex(record.toArray())).isEqualTo(GOLDEN_PUT);
    assertThat(OperationCodec.decode(record))
        .isEqualTo(
            new DecodedOperation(
                ID,
                Requester.ANONYMOUS,
                new Operation.Put(Bytes.utf8("k"), Bytes.utf8("v"), 7, true, false, false)));
  }

  static Stream<Operation> ownOperations() {
    return Stream.of(
        new Operation.LeaseGrant(-5, 60),
        new Operation.LeaseRevoke(77),
        new Operation.AlarmGet(AlarmType.NONE),
        new Operation.AlarmActivate(MEMBER, AlarmType.NOSPACE),
        new Operation.AlarmDeactivate(MEMBER, AlarmType.CORRUPT),
        new Operation.PublishMember(MEMBER, "n\u00e4me", List.of("http://a:1", "http://b:2")));
  }

  @ParameterizedTest
  @MethodSource("ownOperations")
  void roundTripKeepsOwnOperations(Operation operation) {
    for (Requester requester : List.of(Requester.ANONYMOUS, USER)) {
      Bytes record = OperationCodec.encode(ID, requester, operation);
      assertThat(OperationCodec.decode(record).operation()).isEqualTo(operation);
    }
  }

  /**
   * A certificate without a common name proves an identity (A13), an empty name without a revision
   * does not.
   */
  @Test
  void emptyNameWithRevisionIsNotAnonymous() {
    for (Requester requester : List.of(new Requester.User("", 300), Requester.ANONYMOUS, USER)) {
      Bytes record = OperationCodec.encode(ID, requester, LEASE_REVOKE);
      assertThat(OperationCodec.decode(record).requester()).isEqualTo(requester);
    }
    Bytes record = OperationCodec.encode(ID, new Requester.User("", 0), LEASE_REVOKE);
    assertThat(OperationCodec.decode(record).requester()).isEqualTo(Requester.ANONYMOUS);
  }

  @ParameterizedTest
  @MethodSource("ownOperations")
  void anonymousRecordsKeepVersionOne(Operation operation) {
    assertThat(OperationCodec.encode(ID, Requester.ANONYMOUS, operation).at(0)).isEqualTo((byte) 1);
  }

  private static final Operation CHECKPOINT =
      new Operation.LeaseCheckpoint(
          List.of(new Remaining(77, 12), new Remaining(-5, 0), new Remaining(6, 9_000_000_000L)));

  /** Records that versions 1 and 2 cannot represent have version 3, which older programs refuse. */
  @Test
  void goldenCheckpoint() {
    Bytes record = OperationCodec.encode(ID, CHECKPOINT);
    assertThat(HexFormat.of().formatHex(record.toArray()))
        .isEqualTo(
            "03"
                + "090504030201009e8e"
                + "c2011d"
                + ("0a04" + "084d" + "100c")
                + ("0a0b" + "08fbffffffffffffffff01")
                + ("0a08" + "0806" + "1080b4c4c321"));
    assertThat(OperationCodec.decode(record))
        .isEqualTo(new DecodedOperation(ID, Requester.ANONYMOUS, CHECKPOINT));
  }

  /** Records of version 4; older programs refuse them. */
  @Test
  void goldenVersionChanges() {
    EtcdVersion from = new EtcdVersion(3, 6, 0);
    EtcdVersion to = new EtcdVersion(3, 7, 0);
    String id = "04" + "090504030201009e8e";
    String member = "6801";
    golden(
        id + member + "ca0107" + "1205" + "332e372e30",
        Requester.MEMBER,
        new Operation.SetClusterVersion(null, to));
    golden(
        id + member + "ca010e" + "0a05" + "332e362e30" + "1205" + "332e372e30",
        Requester.MEMBER,
        new Operation.SetClusterVersion(from, to));
    golden(
        id + "d20109" + "0801" + "1205" + "332e362e30",
        Requester.ANONYMOUS,
        new Operation.EnableDowngrade(from));
    golden(id + "d20100", Requester.ANONYMOUS, new Operation.CancelDowngrade(null));
    golden(
        id + member + "d20107" + "1205" + "332e362e30",
        Requester.MEMBER,
        new Operation.CancelDowngrade(from));
  }

  private static void golden(String bytes, Requester requester, Operation operation) {
    Bytes record = OperationCodec.encode(ID, requester, operation);
    assertThat(HexFormat.of().formatHex(record.toArray())).isEqualTo(bytes);
    assertThat(OperationCodec.decode(record))
        .isEqualTo(new DecodedOperation(ID, requester, operation));
  }

  /** Field 8 contained one lease; it is no longer written. */
  @Test
  void checkpointOfVersionOneHasOneLease() {
    Bytes record =
        Bytes.wrap(HexFormat.of().parseHex("01" + "090504030201009e8e" + "4204" + "084d" + "100c"));
    assertThat(OperationCodec.decode(record).operation())
        .isEqualTo(new Operation.LeaseCheckpoint(List.of(new Remaining(77, 12))));
  }

  @Test
  void roundTripKeepsRequesters() {
    Operation revoke = new Operation.LeaseRevoke(77);
    for (Requester requester : List.of(Requester.ANONYMOUS, Requester.MEMBER, USER)) {
      assertThat(OperationCodec.decode(OperationCodec.encode(ID, requester, revoke)))
          .isEqualTo(new DecodedOperation(ID, requester, revoke));
      Bytes put =
          Bytes.wrap(
              WirePut.newBuilder().setKey(ByteString.copyFromUtf8("k")).build().toByteArray());
      assertThat(
              OperationCodec.decode(OperationCodec.embed(ID, requester, ClientRequest.PUT, put))
                  .requester())
          .isEqualTo(requester);
    }
    assertThat(OperationCodec.decode(OperationCodec.encode(ID, revoke)).requester())
        .isEqualTo(Requester.MEMBER);
  }

  static Stream<Operation.Auth> authOperations() {
    KeyRange range = new KeyRange(Bytes.utf8("a"), Bytes.of(0));
    return Stream.of(
        new Operation.AuthEnable(),
        new Operation.AuthDisable(),
        new Operation.Authenticate("n\u00e4me", "abc", 7),
        new Operation.UserAdd("u", "h", false),
        new Operation.UserAdd("u", "", true),
        new Operation.UserDelete("u"),
        new Operation.UserChangePassword("u", "h"),
        new Operation.UserGrantRole("u", "r"),
        new Operation.UserRevokeRole("u", "r"),
        new Operation.RoleAdd("r"),
        new Operation.RoleDelete("r"),
        new Operation.RoleGrantPermission("r", new Permission(Permission.Type.READWRITE, range)),
        new Operation.RoleGrantPermission("r", new Permission(Permission.Type.READ, range)),
        new Operation.RoleGrantPermission("r", null),
        new Operation.RoleRevokePermission("r", range));
  }

  @ParameterizedTest
  @MethodSource("authOperations")
  void userChangesAreVersionTwoAndSurviveRoundTrip(Operation.Auth operation) {
    Bytes record = OperationCodec.encode(ID, USER, operation);
    assertThat(record.at(0)).isEqualTo((byte) 2);
    assertThat(OperationCodec.decode(record)).isEqualTo(new DecodedOperation(ID, USER, operation));
    assertThat(OperationCodec.encode(ID, Requester.ANONYMOUS, operation).at(0)).isEqualTo((byte) 2);
  }

  /** Version 2 on disk; the field numbers must stay. */
  @Test
  void goldenRecordsOfVersionTwo() throws IOException {
    StringBuilder lines = new StringBuilder();
    Bytes put =
        Bytes.wrap(WirePut.newBuilder().setKey(ByteString.copyFromUtf8("k")).build().toByteArray());
    lines.append(line("Put of a user", OperationCodec.embed(ID, USER, ClientRequest.PUT, put)));
    lines.append(line("LeaseRevoke of a member", OperationCodec.encode(ID, LEASE_REVOKE)));
    for (Operation.Auth operation : authOperations().toList()) {
      String name = operation.getClass().getSimpleName();
      lines.append(line(name, OperationCodec.encode(ID, USER, operation)));
    }
    assertThat(lines.toString())
        .isEqualTo(
            new String(
                Objects.requireNonNull(
                        OperationCodecTest.class.getResourceAsStream("/golden/operations-v2.txt"))
                    .readAllBytes(),
                StandardCharsets.UTF_8));
  }

  private static String line(String name, Bytes record) {
    return name + ": " + HexFormat.of().formatHex(record.toArray()) + "\n";
  }

  @Test
  void longRequestsAreEmbeddedCompletely() {
    byte[] value = new byte[300_000];
    Arrays.fill(value, (byte) 'x');
    WirePut put =
        WirePut.newBuilder()
            .setKey(ByteString.copyFromUtf8("k"))
            .setValue(ByteString.copyFrom(value))
            .build();
    Bytes record =
        OperationCodec.embed(
            ID, Requester.ANONYMOUS, ClientRequest.PUT, Bytes.wrap(put.toByteArray()));
    Operation.Put back = (Operation.Put) OperationCodec.decode(record).operation();
    assertThat(back.value()).isEqualTo(Bytes.wrap(value));
  }

  @Test
  void compactIsEmbeddedToo() {
    Bytes request =
        Bytes.wrap(WireCompact.newBuilder().setRevision(9).setPhysical(true).build().toByteArray());
    assertThat(
            OperationCodec.decode(
                OperationCodec.embed(ID, Requester.ANONYMOUS, ClientRequest.COMPACT, request)))
        .isEqualTo(new DecodedOperation(ID, Requester.ANONYMOUS, new Operation.Compact(9)));
  }

  @Test
  void rejectsUnknownVersionAndRandomBytes() {
    assertThatThrownBy(() -> OperationCodec.decode(Bytes.of(5, 1, 2)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("version 5");
    assertThatThrownBy(() -> OperationCodec.decode(Bytes.of(0, 1, 2)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("version 0");
    assertThatThrownBy(() -> OperationCodec.decode(Bytes.EMPTY))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> OperationCodec.decode(Bytes.of(1, 0xff, 0xff)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void transactionsReportReadOnlyAndSerializable_X11() throws IOException {
    WireTxnOp read =
        WireTxnOp.newBuilder()
            .setRequestRange(WireRange.newBuilder().setKey(utf8("k")).setSerializable(true))
            .build();
    WireTxnOp write =
        WireTxnOp.newBuilder().setRequestPut(WirePut.newBuilder().setKey(utf8("k"))).build();
    assertThat(txn(WireTxn.newBuilder().addSuccess(read)).serializable()).isTrue();
    assertThat(txn(WireTxn.newBuilder().addSuccess(read).addFailure(write)).readOnly()).isFalse();
    assertThat(txn(WireTxn.newBuilder()).serializable()).isTrue();
  }

  @Test
  void unknownNumbersInComparesSurvive_X6() throws IOException {
    WireCompare odd = WireCompare.newBuilder().setKey(utf8("k")).setTarget(9).setResult(-1).build();
    assertThat(txn(WireTxn.newBuilder().addCompare(odd)).txn().compares())
        .containsExactly(
            new Compare(
                KeyRange.single(Bytes.utf8("k")),
                Compare.Target.UNKNOWN,
                Compare.Relation.UNKNOWN,
                0,
                Bytes.EMPTY));
  }

  @Test
  void unionThatDoesNotMatchItsTargetIsZero_X6() throws IOException {
    WireCompare odd = WireCompare.newBuilder().setKey(utf8("k")).setTarget(2).setVersion(5).build();
    assertThat(txn(WireTxn.newBuilder().addCompare(odd)).txn().compares().get(0).number()).isZero();
  }

  @Test
  void rejectsUnknownSortOptionsAndEmptyOperations_G1_X3() {
    Bytes range =
        Bytes.wrap(WireRange.newBuilder().setKey(utf8("k")).setSortOrder(3).build().toByteArray());
    assertThatThrownBy(() -> RequestCodec.range(range))
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> assertThat(e.reason()).isEqualTo(Refusal.INVALID_SORT_OPTION));
  }

  @Test
  void invalidOperationsOfTransactionKeepTheirPlaces_X3() throws IOException {
    WireRange unsorted = WireRange.newBuilder().setKey(utf8("k")).setSortTarget(5).build();
    WireTxnOp nested =
        WireTxnOp.newBuilder()
            .setRequestTxn(
                WireTxn.newBuilder().addFailure(WireTxnOp.newBuilder().setRequestRange(unsorted)))
            .build();
    RequestCodec.TxnCall call =
        txn(WireTxn.newBuilder().addSuccess(WireTxnOp.getDefaultInstance()).addSuccess(nested));
    assertThat(call.readOnly()).isFalse();
    assertThat(call.txn().success())
        .containsExactly(
            new Operation.Invalid(Refusal.KEY_NOT_FOUND),
            new Operation.Txn(
                List.of(), List.of(), List.of(new Operation.Invalid(Refusal.INVALID_SORT_OPTION))));
  }

  @Test
  void rangesKeepEveryOption() throws IOException {
    WireRange wire =
        WireRange.newBuilder()
            .setKey(utf8("a"))
            .setRangeEnd(utf8("b"))
            .setLimit(3)
            .setRevision(4)
            .setSortOrder(2)
            .setSortTarget(4)
            .setKeysOnly(true)
            .setCountOnly(true)
            .setMinModRevision(5)
            .setMaxModRevision(6)
            .setMinCreateRevision(7)
            .setMaxCreateRevision(8)
            .build();
    RequestCodec.RangeRead read = RequestCodec.range(Bytes.wrap(wire.toByteArray()));
    assertThat(read.serializable()).isFalse();
    assertThat(read.query())
        .isEqualTo(
            new RangeQuery(
                new KeyRange(Bytes.utf8("a"), Bytes.utf8("b")),
                3,
                4,
                RangeQuery.SortOrder.DESCEND,
                RangeQuery.SortTarget.VALUE,
                true,
                true,
                5,
                6,
                7,
                8));
  }

  /** A large value is in memory once while its request is checked, logged and applied. */
  @Test
  void keysAndValuesShareArrayOfTheirRequest() throws IOException {
    WirePut put = WirePut.newBuilder().setKey(utf8("key")).setValue(utf8("value")).build();
    byte[] padded = new byte[put.getSerializedSize() + 7];
    System.arraycopy(put.toByteArray(), 0, padded, 5, put.getSerializedSize());
    Bytes request = Bytes.wrap(padded, 5, put.getSerializedSize());
    assertShares(RequestCodec.put(request), request);

    Bytes data = OperationCodec.embed(ID, USER, ClientRequest.PUT, request);
    assertShares((Operation.Put) OperationCodec.decode(data).operation(), data);

    Bytes txn =
        Bytes.wrap(
            WireTxn.newBuilder()
                .addSuccess(WireTxnOp.newBuilder().setRequestPut(put))
                .build()
                .toByteArray());
    assertShares((Operation.Put) RequestCodec.txn(txn).txn().success().get(0), txn);
  }

  /** A range may be kept, in a cache of counts or by a slow stream: not with its whole request. */
  @Test
  void rangesAreCopies() throws IOException {
    WireRange range = WireRange.newBuilder().setKey(utf8("a")).setRangeEnd(utf8("b")).build();
    Bytes request = Bytes.wrap(range.toByteArray());
    KeyRange read = RequestCodec.range(request).query().range();
    assertThat(read).isEqualTo(new KeyRange(Bytes.utf8("a"), Bytes.utf8("b")));
    assertThat(read.key().backingArray()).isNotSameAs(request.backingArray());
    assertThat(read.rangeEnd().backingArray()).isNotSameAs(request.backingArray());
    Bytes txn =
        Bytes.wrap(
            WireTxn.newBuilder()
                .addCompare(WireCompare.newBuilder().setKey(utf8("k")))
                .addSuccess(WireTxnOp.newBuilder().setRequestRange(range))
                .build()
                .toByteArray());
    Operation.Txn parsed = RequestCodec.txn(txn).txn();
    Bytes compared = parsed.compares().get(0).range().key();
    assertThat(compared.backingArray()).isNotSameAs(txn.backingArray());
    KeyRange nested = ((Operation.Range) parsed.success().get(0)).query().range();
    assertThat(nested.key().backingArray()).isNotSameAs(txn.backingArray());
  }

  private static void assertShares(Operation.Put put, Bytes parent) {
    assertThat(put.key()).isEqualTo(Bytes.utf8("key"));
    assertThat(put.value()).isEqualTo(Bytes.utf8("value"));
    assertThat(put.key().backingArray()).isSameAs(parent.backingArray());
    assertThat(put.value().backingArray()).isSameAs(parent.backingArray());
  }

  private static RequestCodec.TxnCall txn(WireTxn.Builder txn) throws IOException {
    return RequestCodec.txn(Bytes.wrap(txn.build().toByteArray()));
  }

  private static ByteString utf8(String text) {
    return ByteString.copyFromUtf8(text);
  }
}
