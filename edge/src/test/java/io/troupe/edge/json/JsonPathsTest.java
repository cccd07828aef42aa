package io.troupe.edge.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.MethodDescriptor;
import io.troupe.grpc.api.RpcProto;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of section 1.1. */
class JsonPathsTest {
  /** J1: all methods of etcdserverpb except RangeStream. */
  @Test
  void everyMethodHasPath() {
    Set<String> methods =
        RpcProto.getDescriptor().getServices().stream()
            .flatMap(service -> service.getMethods().stream())
            .map(JsonPathsTest::path)
            .filter(path -> !path.equals("/etcdserverpb.KV/RangeStream"))
            .collect(Collectors.toSet());
    Set<String> mapped =
        JsonPaths.all().stream()
            .map(path -> String.valueOf(JsonPaths.method(path)))
            .filter(path -> path.startsWith("/etcdserverpb."))
            .collect(Collectors.toSet());
    assertThat(mapped).isEqualTo(methods);
    // Three lease methods have two paths; Election has five methods and Lock two.
    assertThat(JsonPaths.all()).hasSize(methods.size() + 3 + 5 + 2);
  }

  private static String path(MethodDescriptor method) {
    return "/" + method.getService().getFullName() + "/" + method.getName();
  }

  @Test
  void unknownPathHasNoMethod() {
    assertThat(JsonPaths.method("/v3/kv/rangestream")).isNull();
    assertThat(JsonPaths.method("/v3/kv/put/")).isNull();
    assertThat(JsonPaths.method("/v3/lease/keepalive"))
        .isEqualTo("/etcdserverpb.Lease/LeaseKeepAlive");
  }
}
