package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Settings of logins that etcd corrects (4.2). */
class DerivedSettingsTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(DerivedSettings.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void begin() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void end() {
    logger.detachAppender(log);
  }

  private static String hash(String cost) throws Exception {
    return DerivedSettings.logins(settings("bcrypt-cost", cost))
        .passwords()
        .hash("1")
        .toCompletableFuture()
        .get(30, TimeUnit.SECONDS);
  }

  private static NodeSettings settings(String key, String value) {
    return NodeSettings.of(TestConfig.of(Map.of("troupe." + key, value)));
  }

  private List<String> warnings() {
    return log.list.stream()
        .filter(line -> line.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Test
  void aCostThatBcryptDoesNotHaveIsTen() throws Exception {
    assertThat(hash("4")).startsWith("$2a$04$");
    assertThat(warnings()).isEmpty();
    for (String cost : new String[] {"0", "3", "32", "9223372036854775807"}) {
      log.list.clear();
      assertThat(hash(cost)).startsWith("$2a$10$");
      assertThat(warnings())
          .containsExactly("troupe.bcrypt-cost = " + cost + " is not between 4 and 31: using 10");
    }
    assertThatThrownBy(() -> settings("bcrypt-cost", "-1"))
        .hasMessageContaining("troupe.bcrypt-cost");
  }

  @Test
  void tokensOfNoTimeHaveTheUsualOne() {
    DerivedSettings.logins(settings("auth-token-ttl", "0 s"));
    assertThat(warnings()).containsExactly("troupe.auth-token-ttl = 0: using 300 s");
    assertThatThrownBy(() -> settings("auth-token-ttl", "-1 s"))
        .hasMessageContaining("troupe.auth-token-ttl");
  }
}
