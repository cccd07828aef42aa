package io.troupe.bench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EndpointTest {
  @Test
  void readsBothForms() {
    assertThat(Endpoint.parse("127.0.0.1:2379")).isEqualTo(new Endpoint("127.0.0.1", 2379));
    assertThat(Endpoint.parse("http://etcd-1:80")).isEqualTo(new Endpoint("etcd-1", 80));
    Endpoint secure = Endpoint.parse("https://etcd-1:81");
    assertThat(secure).isEqualTo(new Endpoint("etcd-1", 81, true, ""));
    assertThat(secure.url()).isEqualTo("https://etcd-1:81");
    assertThat(secure.withToken("t").token()).isEqualTo("t");
  }

  @Test
  void rejectsOtherForms() {
    for (String wrong :
        new String[] {"", "host", ":1", "host:", "host:0", "host:70000", "host:x"}) {
      assertThatThrownBy(() -> Endpoint.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
