package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** M1. */
class PeerUrlsTest {
  private static void refused(List<String> urls) {
    assertThatThrownBy(() -> PeerUrls.checked(urls))
        .isInstanceOfSatisfying(
            GrpcException.class,
            e ->
                assertThat(e.status())
                    .isEqualTo(
                        new GrpcStatus(
                            GrpcStatus.INVALID_ARGUMENT,
                            "etcdserver: given member URLs are invalid")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://10.0.0.1:2380",
        "https://node:1",
        "http://[::1]:2380",
        "http://:2380",
        "http://localhost:",
        "unix://file:1",
        "unixs:///run/peer"
      })
  void acceptsPeerUrls(String url) {
    assertThat(PeerUrls.checked(List.of(url))).containsExactly(url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost:2380",
        "ftp://localhost:2380",
        "http://localhost",
        "http://[::1]",
        "http://::1:2380",
        "http://localhost:2380/",
        "http://localhost:2380/path",
        "http://localhost:http",
        "http:localhost:2380",
        "http://a b:1"
      })
  void rejectsOtherUrls(String url) {
    refused(List.of(url));
    refused(List.of("http://localhost:2380", url));
  }

  @Test
  void atLeastOneUrlIsRequired() {
    refused(List.of());
  }

  @Test
  void urlsAreSortedAndTrimmed() {
    assertThat(PeerUrls.checked(List.of(" http://b:1", "HTTP://a:1 ")))
        .containsExactly("http://a:1", "http://b:1");
  }
}
