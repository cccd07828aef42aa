package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PeerLivenessTest {
  private static final NodeId PEER = new NodeId(2);
  private static final long MS = 1_000_000;

  private final PeerLiveness contacts =
      new PeerLiveness(Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofSeconds(3));

  private void heardEvery100Ms(long fromMs, long toMs) {
    for (long at = fromMs; at <= toMs; at += 100) {
      contacts.heard(PEER, at * MS);
    }
  }

  private boolean heardSince(long sinceMs, long nowMs) {
    return contacts.heardSince(PEER, sinceMs * MS, nowMs * MS);
  }

  @Test
  void peerWithoutMessagesWasNeverHeard() {
    assertThat(heardSince(0, 10)).isFalse();
  }

  @Test
  void peerWithoutGapIsHeardSinceFirstMessage() {
    heardEvery100Ms(100, 3000);
    assertThat(heardSince(99, 3050)).isFalse();
    assertThat(heardSince(100, 3050)).isTrue();
    assertThat(heardSince(2000, 3999)).isTrue();
    assertThat(heardSince(2000, 4000)).as("silent for a second").isFalse();
  }

  @Test
  void gapRestartsTime() {
    heardEvery100Ms(100, 3000);
    heardEvery100Ms(4000, 6000);
    assertThat(heardSince(3999, 6010)).isFalse();
    assertThat(heardSince(4000, 6010)).isTrue();
  }

  @Test
  void shorterPauseIsNoGap() {
    heardEvery100Ms(100, 3000);
    heardEvery100Ms(3999, 6000);
    assertThat(heardSince(100, 6010)).isTrue();
  }

  @Test
  void connectionHoldsWhileGreetingsArrive() {
    for (long at = 100; at <= 9100; at += 1000) {
      contacts.heard(PEER, at * MS);
    }
    assertThat(contacts.connectedSince(PEER, 100 * MS, 12_099 * MS)).isTrue();
    assertThat(contacts.connectedSince(PEER, 99 * MS, 9200 * MS)).isFalse();
    assertThat(contacts.connectedSince(PEER, 100 * MS, 12_100 * MS)).as("lost").isFalse();
    contacts.heard(PEER, 12_100 * MS);
    assertThat(contacts.connectedSince(PEER, 12_099 * MS, 12_200 * MS)).as("new").isFalse();
    assertThat(contacts.connectedSince(new NodeId(3), 0, 1)).as("unknown peer").isFalse();
  }
}
