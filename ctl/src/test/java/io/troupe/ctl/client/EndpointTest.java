package io.troupe.ctl.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EndpointTest {
  @Test
  void readsAddressesAndUrls() {
    assertThat(Endpoint.parse("h:1")).isEqualTo(new Endpoint("h:1", "h", 1, Endpoint.Scheme.ANY));
    assertThat(Endpoint.parse("https://h:2/path").scheme()).isEqualTo(Endpoint.Scheme.TLS);
    assertThat(Endpoint.parse("http://[::1]:3").authority()).isEqualTo("[::1]:3");
    assertThat(Endpoint.parse("h").port()).isEqualTo(2379);
  }

  @Test
  void refusesOtherForms() {
    assertThatThrownBy(() -> Endpoint.parse("unix:///s"))
        .hasMessage("endpoint unix:///s: the scheme is not http or https");
    assertThatThrownBy(() -> Endpoint.parse("h:x")).hasMessage("endpoint h:x: not host:port");
    assertThatThrownBy(() -> Endpoint.parse("")).hasMessage("endpoint : not host:port");
  }

  @Test
  void tlsFollowsSchemeAndFlags() {
    TlsSettings none = new TlsSettings("", "", "", true, false);
    TlsSettings ca = new TlsSettings("", "", "ca", true, false);
    assertThat(EtcdClient.isTls(Endpoint.parse("h:1"), none)).isFalse();
    assertThat(EtcdClient.isTls(Endpoint.parse("h:1"), ca)).isTrue();
    assertThat(EtcdClient.isTls(Endpoint.parse("http://h:1"), ca)).isFalse();
    assertThat(EtcdClient.isTls(Endpoint.parse("https://h:1"), none)).isTrue();
  }
}
