package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The setting status-page = "never". */
class StatusPageNeverTest {
  @RegisterExtension
  static final ServedStore STORE = ServedStore.create().with("status-page", "never");

  @Test
  void pathIsNotFoundAsInEtcd() {
    Http1 http = new Http1(STORE.target());
    assertThat(http.get("/").statusCode()).isEqualTo(404);
    assertThat(http.post("/", "x").statusCode()).isEqualTo(404);
  }
}
