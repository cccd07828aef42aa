package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.etcd.jetcd.Client;
import io.troupe.testkit.TroupeExtension;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One server for all tests of the class. */
class GreetingsTest {
  @RegisterExtension static final TroupeExtension troupe = TroupeExtension.singleMember();

  @Test
  void missingGreetingIsEmpty() throws Exception {
    try (Client client = Client.builder().endpoints(troupe.endpoint()).build()) {
      assertEquals(Optional.empty(), new Greetings(client).find("ada lovelace"));
    }
  }

  @Test
  void firstGreetingIsKept() throws Exception {
    try (Client client = Client.builder().endpoints(troupe.endpoint()).build()) {
      Greetings greetings = new Greetings(client);
      assertTrue(greetings.add("ada", "hello"));
      assertFalse(greetings.add("ada", "goodbye"));
      assertEquals(Optional.of("hello"), greetings.find("ada"));
    }
  }

  @Test
  void greetingSurvivesRestart() throws Exception {
    try (Client client = Client.builder().endpoints(troupe.endpoint()).build()) {
      Greetings greetings = new Greetings(client);
      assertTrue(greetings.add("grace", "hello"));
      troupe.server().restart();
      assertEquals(Optional.of("hello"), greetings.find("grace"));
    }
  }
}
