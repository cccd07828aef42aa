package io.troupe.edge.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Objects in a body, in any chunking. */
class JsonObjectsTest {
  private static final String BODY =
      " {\"a\":\"}{\\\"\\\\\"}\n\n{\"b\":[{},[1,2],\"]\"]} {} \t{\"ü\":\"\\u007b\"}\r\n";

  private static List<String> cut(String body, int piece) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    JsonObjects objects = new JsonObjects(1000);
    List<String> found = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += piece) {
      objects.give(Arrays.copyOfRange(bytes, at, Math.min(at + piece, bytes.length)));
      for (Bytes one = objects.next(); one != null; one = objects.next()) {
        found.add(one.utf8());
      }
    }
    assertThat(objects.isInside()).isFalse();
    return found;
  }

  @Property
  void findsObjectsInAnyChunking(@ForAll @IntRange(min = 1, max = 80) int piece) {
    assertThat(cut(BODY, piece))
        .containsExactly(
            "{\"a\":\"}{\\\"\\\\\"}", "{\"b\":[{},[1,2],\"]\"]}", "{}", "{\"ü\":\"\\u007b\"}");
  }

  @Test
  void otherBytesBetweenObjectsAreRejected() {
    for (String wrong : new String[] {"x", "[1]", "\"{}\"", "{} ,{}", "}", "1"}) {
      assertThatThrownBy(() -> cut(wrong, 100))
          .as(wrong)
          .isInstanceOf(GrpcException.class)
          .extracting(e -> ((GrpcException) e).status().code())
          .isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    }
  }

  @Test
  void incompleteObjectIsReported() {
    JsonObjects objects = new JsonObjects(1000);
    objects.give("{\"a\":".getBytes(StandardCharsets.UTF_8));
    assertThat(objects.next()).isNull();
    assertThat(objects.isInside()).isTrue();
  }

  @Test
  void objectSizeIsLimited() {
    JsonObjects objects = new JsonObjects(10);
    objects.give("{\"a\":1}   {\"a\":12345}".getBytes(StandardCharsets.UTF_8));
    assertThat(objects.next()).isEqualTo(Bytes.utf8("{\"a\":1}"));
    assertThatThrownBy(objects::next)
        .isInstanceOf(GrpcException.class)
        .extracting(e -> ((GrpcException) e).status().code())
        .isEqualTo(GrpcStatus.RESOURCE_EXHAUSTED);
  }
}
