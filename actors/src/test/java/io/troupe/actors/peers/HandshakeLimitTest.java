package io.troupe.actors.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HandshakeLimitTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Clocks of this kind may be anywhere. */
  private long now = Long.MAX_VALUE - SECOND;

  private final HandshakeLimit limit = new HandshakeLimit(now);

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static InetAddress unknown(int number) {
    return address("10." + (number >> 16) + "." + (number >> 8 & 255) + "." + (number & 255));
  }

  private int admitted(InetAddress from, int attempts) {
    int admitted = 0;
    for (int i = 0; i < attempts; i++) {
      admitted += limit.admits(from, now) ? 1 : 0;
    }
    return admitted;
  }

  @Test
  void eachUnknownAddressHasShare() {
    InetAddress one = unknown(1);
    assertThat(admitted(one, 1000)).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEER.atOnce());
    now += SECOND;
    assertThat(admitted(one, 1000)).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEER.perSecond());
    assertThat(admitted(unknown(2), 1)).as("another one").isEqualTo(1);
    now += 100 * SECOND;
    assertThat(admitted(one, 1000)).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEER.atOnce());
  }

  @Test
  void unknownAddressesShareOneLimitAndMembersHaveTheirOwn() {
    InetAddress member = address("10.200.0.1");
    limit.memberSpoke(member, now);
    int admitted = 0;
    for (int i = 0; i < 50_000; i++) {
      admitted += admitted(unknown(i), 1);
    }
    assertThat(admitted).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEERS.atOnce());
    assertThat(admitted(member, 1000)).isEqualTo(HandshakeLimit.OF_A_MEMBER.atOnce());
    now += SECOND;
    assertThat(admitted(member, 1000)).isEqualTo(HandshakeLimit.OF_A_MEMBER.perSecond());
    admitted = 0;
    for (int i = 0; i < 50_000; i++) {
      admitted += admitted(unknown(i), 1);
    }
    assertThat(admitted).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEERS.perSecond());
  }

  /** A share that was refused for the sake of all others is not used up. */
  @Test
  void addressRefusedByCommonLimitKeepsItsShare() {
    for (int i = 0; i < 1000; i++) {
      admitted(unknown(i), 1);
    }
    InetAddress idle = unknown(5000);
    assertThat(admitted(idle, 1000)).isZero();
    now += 2 * SECOND;
    assertThat(admitted(idle, 1000)).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEER.atOnce());
  }

  @Test
  void ipv6NetworkCountsAsOneAddress() {
    int admitted = 0;
    for (int i = 1; i < 1000; i++) {
      admitted += admitted(address("2001:db8::" + Integer.toHexString(i)), 1);
    }
    assertThat(admitted).isEqualTo(HandshakeLimit.OF_UNKNOWN_PEER.atOnce());
    assertThat(admitted(address("2001:db8:0:1::1"), 1)).isEqualTo(1);
  }

  @Test
  void aMemberIsKnownForAsLongAsNotTooManyOthersSpokeSince() {
    InetAddress first = address("10.200.0.1");
    limit.memberSpoke(first, now);
    for (int i = 0; i < HandshakeLimit.MAX_MEMBERS - 1; i++) {
      limit.memberSpoke(unknown(i), now);
    }
    for (int i = 70_000; i < 80_000; i++) {
      admitted(unknown(i), 1);
    }
    assertThat(admitted(first, 1)).isEqualTo(1);
    for (int i = 0; i < HandshakeLimit.MAX_MEMBERS; i++) {
      limit.memberSpoke(unknown(100_000 + i), now);
    }
    assertThat(admitted(first, 1)).isZero();
  }
}
