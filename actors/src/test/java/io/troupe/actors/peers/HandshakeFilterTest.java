package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HandshakeFilterTest {
  private static final PeerAddress SELF = new PeerAddress("self", 1);
  private static final PeerAddress MEMBER = new PeerAddress("member", 1);

  private final HandshakeFilter admission = new HandshakeFilter(SELF, 0);

  private static PeerAddress unknown(int number) {
    return new PeerAddress("unknown", number);
  }

  private void admits(PeerAddress from, long uid) {
    assertThat(admission.refusal(from, uid, 0)).as("%s %d", from, uid).isNull();
  }

  private void refuses(PeerAddress from, long uid, long nowNanos) {
    assertThat(admission.refusal(from, uid, nowNanos)).as("%s %d", from, uid).isNotNull();
  }

  @Test
  void unknownPeersAreLimited() {
    for (int i = 1; i <= HandshakeFilter.MAX_UNKNOWN_PEERS; i++) {
      admits(unknown(i), i);
    }
    refuses(unknown(1000), 1000, 0);
    assertThat(admission.isKnown(unknown(1))).isTrue();
    assertThat(admission.isKnown(unknown(1000))).isFalse();
    admits(unknown(1), 1);
  }

  @Test
  void membersAndQueriedAddressesAreAlwaysAccepted() {
    for (int i = 1; i <= HandshakeFilter.MAX_UNKNOWN_PEERS; i++) {
      admits(unknown(i), i);
    }
    admission.members(MEMBER::equals);
    admission.expect(unknown(2000));
    assertThat(admission.isKnown(MEMBER)).isTrue();
    admits(MEMBER, 500);
    admits(unknown(2000), 501);
  }

  @Test
  void processMayNotUseAddressOrNumberOfAnother() {
    admission.members(MEMBER::equals);
    refuses(SELF, 1, 0);
    admits(MEMBER, 2);
    refuses(unknown(1), 2, 0);
    assertThat(admission.isKnown(unknown(1))).isFalse();
  }

  @Test
  void processesAtOneAddressMayNotBeginWithoutEnd() {
    admission.members(MEMBER::equals);
    for (int i = 0; i < HandshakeFilter.BURST; i++) {
      admits(MEMBER, i);
    }
    long refill = HandshakeFilter.REFILL.toNanos();
    refuses(MEMBER, 1000, refill - 1);
    assertThat(admission.refusal(MEMBER, 0, refill - 1)).as("it is known").isNull();
    assertThat(admission.refusal(MEMBER, 1000, refill)).isNull();
    refuses(MEMBER, 1001, refill);
  }
}
