package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.etcd.jetcd.Client;
import io.troupe.testkit.TroupeServer;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A server without the extension. */
class ThreeMembersTest {
  @Test
  void greetingSurvivesStopOfMember() throws Exception {
    try (TroupeServer server = TroupeServer.builder().members(3).start()) {
      try (Client client = Client.builder().endpoints(server.endpoints().get(0)).build()) {
        assertTrue(new Greetings(client).add("ada", "hello"));
      }
      server.stopMember(0);
      try (Client client = Client.builder().endpoints(server.endpoints().get(1)).build()) {
        assertEquals(Optional.of("hello"), new Greetings(client).find("ada"));
      }
    }
  }
}
