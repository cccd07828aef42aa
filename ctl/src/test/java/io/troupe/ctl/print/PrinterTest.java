package io.troupe.ctl.print;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.grpc.api.AlarmMember;
import io.troupe.grpc.api.AlarmResponse;
import io.troupe.grpc.api.AlarmType;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PrinterTest {
  private static final ResponseHeader HEADER =
      ResponseHeader.newBuilder().setClusterId(-1).setMemberId(0xabc).setRaftTerm(2).build();
  private static final AlarmResponse ALARMS =
      AlarmResponse.newBuilder()
          .setHeader(HEADER)
          .addAlarms(AlarmMember.newBuilder().setMemberID(-2).setAlarm(AlarmType.NOSPACE))
          .build();
  private static final Member MEMBER =
      Member.newBuilder().setID(0xabc).setName("<n>").addPeerURLs("http://a?b&c").build();

  private static String print(String mode, boolean hex, Consumer<Printer> call) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Console console =
        new Console(
            InputStream.nullInputStream(),
            out,
            new ByteArrayOutputStream(),
            Map.of(),
            false,
            false);
    call.accept(Printers.of(mode, hex, console));
    console.flush();
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void alarmsNameMemberAndType() {
    assertThat(print("simple", false, printer -> printer.alarm(ALARMS)))
        .isEqualTo("memberID:18446744073709551614 alarm:NOSPACE\n");
    assertThat(print("fields", true, printer -> printer.alarm(ALARMS)))
        .contains("\"MemberID\" : fffffffffffffffe\n\"AlarmType\" : NOSPACE\n\n")
        .contains("\"ClusterID\" : ffffffffffffffff\n");
    assertThat(print("json", false, printer -> printer.alarm(ALARMS)))
        .isEqualTo(
            "{\"header\":{\"cluster_id\":18446744073709551615,\"member_id\":2748,\"raft_term\":2},"
                + "\"alarms\":[{\"memberID\":18446744073709551614,\"alarm\":1}]}\n");
  }

  @Test
  void jsonEscapesAsGoDoes() {
    MemberListResponse members =
        MemberListResponse.newBuilder()
            .addMembers(MEMBER.toBuilder().setName("<\u2028\"\\\n\u0001é>"))
            .build();
    assertThat(print("json", false, printer -> printer.memberList(members)))
        .contains("\"name\":\"\\u003c\\u2028\\\"\\\\\\n\\u0001é\\u003e\"")
        .contains("http://a?b\\u0026c");
  }

  @Test
  void jsonOfMembersHasHexadecimalIdsWithHex_CT4() {
    MemberAddResponse added =
        MemberAddResponse.newBuilder()
            .setHeader(HEADER)
            .setMember(MEMBER.toBuilder().setName(""))
            .addMembers(MEMBER.toBuilder().setIsLearner(true).setName("n"))
            .build();
    assertThat(print("json", true, printer -> printer.memberAdd(added)))
        .isEqualTo(
            "{\"header\":{\"cluster_id\":\"ffffffffffffffff\",\"member_id\":\"abc\",\"raft_term\":2},"
                + "\"member\":{\"ID\":\"abc\",\"peerURLs\":[\"http://a?b\\u0026c\"]},"
                + "\"members\":[{\"ID\":\"abc\",\"name\":\"n\",\"peerURLs\":[\"http://a?b\\u0026c\"],"
                + "\"isLearner\":true}]}\n");
  }

  @Test
  void jsonOfNestedTransactionsIsNested_CT5() {
    TxnResponse inner =
        TxnResponse.newBuilder()
            .addResponses(
                ResponseOp.newBuilder().setResponseRange(RangeResponse.newBuilder().setCount(1)))
            .build();
    TxnResponse outer =
        TxnResponse.newBuilder()
            .setSucceeded(true)
            .addResponses(ResponseOp.newBuilder().setResponseTxn(inner))
            .build();
    assertThat(print("json", false, printer -> printer.txn(outer)))
        .isEqualTo(
            "{\"succeeded\":true,\"responses\":[{\"Response\":{\"response_txn\":{\"responses\":"
                + "[{\"Response\":{\"response_range\":{\"count\":1}}}]}}}]}\n");
  }

  @Test
  void deletionsHaveTheirType() {
    WatchResponse deleted =
        WatchResponse.newBuilder()
            .addEvents(
                Event.newBuilder()
                    .setType(Event.EventType.DELETE)
                    .setKv(KeyValue.newBuilder().setKey(ByteString.copyFromUtf8("k"))))
            .build();
    assertThat(print("simple", false, printer -> printer.watch(deleted)))
        .isEqualTo("DELETE\nk\n\n");
    assertThat(print("json", false, printer -> printer.watch(deleted)))
        .contains("\"Events\":[{\"type\":1,\"kv\":{\"key\":\"aw==\"}}]");
  }

  @Test
  void modesRefuseWhatTheyHaveNoFormFor_CT4() {
    for (String mode : List.of("fields", "table")) {
      assertThatThrownBy(
              () -> print(mode, false, p -> p.memberAdd(MemberAddResponse.getDefaultInstance())))
          .isInstanceOf(CtlException.class)
          .hasMessage(mode + " not supported as output format");
    }
    assertThatThrownBy(() -> print("protobuf", false, p -> p.endpointHash(List.of())))
        .hasMessage("protobuf not supported as output format");
    assertThatThrownBy(() -> print("xml", false, p -> {})).hasMessage("unsupported output format");
  }

  @Test
  void tablesCenterTitlesAndAlignCellsRight() {
    assertThat(TableText.lines(List.of("id", "n"), List.of(List.of("1", "long"))))
        .containsExactly(
            "┌────┬──────┐", "│ ID │  N   │", "├────┼──────┤", "│  1 │ long │", "└────┴──────┘");
    assertThat(TableText.lines(List.of("id"), List.of())).hasSize(3);
  }
}
