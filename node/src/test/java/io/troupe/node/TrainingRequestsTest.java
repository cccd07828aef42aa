package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.junit.jupiter.api.Test;

class TrainingRequestsTest {
  private static String path(HttpRequest request) {
    return request.getUri().path();
  }

  @Test
  void roundHasOneRequestOfEachKind() {
    List<HttpRequest> round = TrainingRequests.unary(1, 7).toList();

    assertThat(round).hasSize(TrainingRequests.KINDS);
    assertThat(TrainingRequests.unary(3, 7)).hasSize(3 * TrainingRequests.KINDS);
    assertThat(round.stream().map(TrainingRequestsTest::path).distinct())
        .containsExactlyInAnyOrder(
            "/etcdserverpb.KV/Put",
            "/etcdserverpb.KV/Range",
            "/etcdserverpb.KV/Txn",
            "/etcdserverpb.KV/DeleteRange");
    assertThat(round.stream().map(request -> ((HttpEntity.Strict) request.entity()).getData()))
        .as("kinds differ")
        .doesNotHaveDuplicates();
  }

  @Test
  void requestIsOneFrame() {
    byte[] data = ((HttpEntity.Strict) TrainingRequests.grant(7).entity()).getData().toArray();

    // Not compressed, four bytes of length, then ID 7 and a TTL of 60 s in the order of fields 1, 2
    assertThat(data).containsExactly(0, 0, 0, 0, 4, 8, 60, 16, 7);
  }
}
