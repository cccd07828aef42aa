package io.troupe.grpc.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 5.3: requests in JSON. */
class JsonMessagesTest {
  private static Bytes put(String json) {
    return JsonMessages.parse(Bytes.utf8(json), PutRequest.getDescriptor());
  }

  @Test
  void J2_aMessageIsParsed() throws Exception {
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
  void J3_whatIsWrongIsToldWithoutNamesOfClasses(String json, String what) {
    assertThatThrownBy(() -> put(json))
        .isInstanceOfSatisfying(
            GrpcException.class,
            wrong ->
                assertThat(wrong.status().message())
                    .contains(what)
                    .doesNotContain("com.google", "java.", "https://"));
  }
}
