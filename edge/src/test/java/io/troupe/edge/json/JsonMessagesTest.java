package io.troupe.edge.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Bytes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** 5.3: requests in JSON. */
class JsonMessagesTest {
  private static Bytes put(String json) {
    return JsonMessages.parse(Bytes.utf8(json), PutRequest.getDescriptor());
  }

  @Test
  void messageIsParsed_J2() throws Exception {
    assertThat(PutRequest.parseFrom(put("{\"key\":\"Zm9v\",\"lease\":\"7\"}").toArray()))
        .isEqualTo(
            PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("foo")).setLease(7).build());
    String txn =
        "{\"success\":[{\"request_put\":{\"key\":\"Zm9v\"}},{\"request_put\":{\"key\":\"Zm8=\"}}]}";
    assertThat(
            TxnRequest.parseFrom(
                    JsonMessages.parse(Bytes.utf8(txn), TxnRequest.getDescriptor()).toArray())
                .getSuccessCount())
        .as("names may repeat in different objects")
        .isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "{\"key\":\"Zm9v\",\"key\":\"Zm9w\"} | duplicate field \"key\"",
        "{\"x\":[{\"a\":1,\"a\":2}]}          | duplicate field \"a\"",
        "{\"key\":\"%%%\"}                    | Unrecognized character",
        "{\"key\":                            | End of input",
        "[1]                                  | Expect message object",
      })
  void errorsContainNoClassNames_J3(String json, String what) {
    assertThatThrownBy(() -> put(json))
        .isInstanceOfSatisfying(
            GrpcException.class,
            wrong ->
                assertThat(wrong.status().message())
                    .contains(what)
                    .doesNotContain("com.google", "java.", "https://"));
  }

  private static Bytes grant(String json) {
    return JsonMessages.parse(Bytes.utf8(json), LeaseGrantRequest.getDescriptor());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e100000000",
        "1E+999999999",
        "-1e-100000000",
        "1e100",
        "11111111111111111111111111111111111111111",
        "abc",
        "0x10"
      })
  void invalidNumberIsRejectedBeforeItIsComputed(String number) {
    for (String json : List.of("{\"ID\":\"" + number + "\"}", "{\"ID\":" + number + "}")) {
      assertTimeoutPreemptively(
          Duration.ofSeconds(5),
          () -> assertThatThrownBy(() -> grant(json)).isInstanceOf(GrpcException.class));
    }
  }

  @Test
  void megabytesOfDigitsAreRefused() {
    String digits = "1".repeat(2 << 20);
    for (String json : List.of("{\"ID\":\"" + digits + "\"}", "{\"ID\":" + digits + "}")) {
      assertTimeoutPreemptively(
          Duration.ofSeconds(5),
          () ->
              assertThatThrownBy(() -> grant(json))
                  .isInstanceOf(GrpcException.class)
                  .message()
                  .hasSizeLessThan(300));
    }
  }

  /** As in etcd, enumeration fields accept numbers, so their numbers must be checked too. */
  @Test
  void numbersInEnumerationFieldsAreChecked() {
    assertTimeoutPreemptively(
        Duration.ofSeconds(5),
        () ->
            assertThatThrownBy(
                    () ->
                        JsonMessages.parse(
                            Bytes.utf8("{\"sort_order\":\"1e100000000\"}"),
                            RangeRequest.getDescriptor()))
                .isInstanceOf(GrpcException.class));
  }

  @Test
  void allNumberFormsAreAccepted() throws Exception {
    for (String number : List.of("7", "7.0", "7e0", "70E-1", "\"7\"", "\"0.7e1\"")) {
      assertThat(LeaseGrantRequest.parseFrom(grant("{\"ID\":" + number + "}").toArray()).getID())
          .as(number)
          .isEqualTo(7);
    }
    assertThat(
            LeaseGrantRequest.parseFrom(grant("{\"ID\":\"-9223372036854775808\"}").toArray())
                .getID())
        .isEqualTo(Long.MIN_VALUE);
    assertThat(
            RangeRequest.parseFrom(
                    JsonMessages.parse(
                            Bytes.utf8("{\"sort_order\":\"DESCEND\",\"sortTarget\":2}"),
                            RangeRequest.getDescriptor())
                        .toArray())
                .getSortOrder())
        .isEqualTo(RangeRequest.SortOrder.DESCEND);
  }

  @Test
  void nestingIsBounded() {
    String deep = "{\"success\":[{\"requestTxn\":".repeat(60) + "{}" + "}]}".repeat(60);
    assertThatThrownBy(() -> JsonMessages.parse(Bytes.utf8(deep), TxnRequest.getDescriptor()))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("recursion limit");
    String unknown = "{\"x\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";
    assertThatThrownBy(() -> put(unknown))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("exceeded max depth");
  }

  @Test
  void elementsAreBounded() {
    String many = "{\"x\":[" + "1,".repeat(JsonShape.MAX_ELEMENTS) + "1]}";
    assertThatThrownBy(() -> put(many))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("elements");
  }
}
