package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PeerConfigTest {
  /** Pekko's 3 s ended members that started on a machine with ten times its load. */
  @Test
  void aBusyMachineIsNoReasonToEndAStart() {
    PeerAddress address = new PeerAddress("127.0.0.1", 2380);
    Config config = PeerConfig.of(address, address, false).withFallback(ConfigFactory.load());
    assertThat(config.getString("pekko.remote.artery.transport")).isEqualTo("tcp");
    assertThat(config.getDuration("pekko.remote.artery.bind.bind-timeout"))
        .isGreaterThanOrEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void arteryListensOnLoopbackOnly() {
    PeerAddress bound = new PeerAddress("[::1]", 2380);
    Config config =
        PeerConfig.of(new PeerAddress("a.example", 2380), bound, true)
            .withFallback(ConfigFactory.load());
    assertThat(config.getString("pekko.remote.artery.bind.hostname")).isEqualTo("127.0.0.1");
    assertThat(config.getInt("pekko.remote.artery.bind.port")).isZero();
    assertThat(config.getString(PeerConfig.PORT_HOST)).isEqualTo("::1");
    assertThat(config.getInt(PeerConfig.PORT_NUMBER)).isEqualTo(2380);
  }

  @Test
  void theSchemeOfAPeerUrlSaysWhetherTlsIsSpoken() {
    assertThat(PeerAddress.isTls("https://127.0.0.1:2380")).isTrue();
    assertThat(PeerAddress.isTls("HTTPS://a:1")).isTrue();
    assertThat(PeerAddress.isTls("http://https:2380")).isFalse();
    assertThat(PeerAddress.of("https://[::1]:2380")).isEqualTo(new PeerAddress("[::1]", 2380));
  }
}
