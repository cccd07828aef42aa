package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class ListenerAddressTest {
  private static String text(String host) throws Exception {
    return ListenerAddress.text(new InetSocketAddress(InetAddress.getByName(host), 2379));
  }

  @Test
  void allInterfacesAreFourZeros() throws Exception {
    assertThat(text("0.0.0.0")).isEqualTo("0.0.0.0:2379");
    assertThat(text("::")).isEqualTo("0.0.0.0:2379");
  }

  @Test
  void otherAddressesAreShownAsInUrls() throws Exception {
    assertThat(text("127.0.0.1")).isEqualTo("127.0.0.1:2379");
    assertThat(text("::1")).isEqualTo("[0:0:0:0:0:0:0:1]:2379");
  }
}
