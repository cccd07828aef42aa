package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.MemoryBudget;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Limits that apply to all connections together. */
class ClientConnectionsTest {
  private static final int BUDGET = 1 << 20;
  private static final int CHECKS = 5;

  private final MemoryBudget memory = new MemoryBudget(BUDGET, 1024);
  private final ClientConnections connections =
      new ClientConnections(new ConnectionLimits(100, 100, 4, 3), memory);
  private final InetAddress here = address(1);
  private final List<String> closed = new ArrayList<>();

  private static InetAddress address(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
    } catch (java.net.UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private ConnectionState begin(InetAddress address, String name) {
    ConnectionState begun = Objects.requireNonNull(connections.begin(address));
    begun.closedBy(reason -> closed.add(name));
    return begun;
  }

  @Test
  void oneAddressLeavesSlotsForOtherAddresses() {
    ConnectionState first = begin(here, "first");
    begin(here, "second");
    begin(here, "third");
    assertThat(connections.begin(here)).isNull();
    begin(address(2), "fourth");
    assertThat(connections.begin(address(3))).as("all slots are used").isNull();
    connections.ended(first);
    connections.ended(first);
    assertThat(connections.begin(here)).isNotNull();
    assertThat(connections.begin(here)).isNull();
    assertThat(closed).isEmpty();
  }

  @Test
  void unixSocketsHaveNoAddress() {
    for (int i = 0; i < 4; i++) {
      assertThat(connections.begin(null)).isNotNull();
    }
    assertThat(connections.begin(null)).isNull();
  }

  private void check(ConnectionState moving, int bytes) {
    for (int i = 0; i < CHECKS; i++) {
      moving.moved(bytes);
      connections.relieve();
    }
  }

  @Test
  void connectionWithoutProgressIsClosedWhenMemoryIsShort() {
    ConnectionState stalled = begin(here, "stalled");
    ConnectionState moving = begin(here, "moving");
    ConnectionState small = begin(here, "small");
    stalled.memory().share().take(BUDGET / 2);
    moving.memory().share().take(BUDGET / 2 - 1000);
    small.memory().share().take(1000);
    check(moving, BUDGET / 32);
    assertThat(closed).containsExactly("stalled");
  }

  /** The connection could not move bytes that it did not hold. */
  @Test
  void idleConnectionHasTimeForNewResponse() {
    ConnectionState quiet = begin(here, "quiet");
    check(quiet, 0);
    quiet.memory().share().take(BUDGET);
    connections.relieve();
    connections.relieve();
    connections.relieve();
    assertThat(closed).isEmpty();
    connections.relieve();
    assertThat(closed).containsExactly("quiet");
  }

  /** The progress of a small response does not count for the large response after it. */
  @Test
  void growingResponseIsMeasuredByPreviouslyHeldBytes() {
    ConnectionState growing = begin(here, "growing");
    growing.memory().share().take(BUDGET / 32);
    for (int i = 0; i < CHECKS; i++) {
      growing.memory().share().take(BUDGET / 8);
      growing.moved(BUDGET / 64);
      connections.relieve();
    }
    assertThat(closed).isEmpty();
  }

  @Test
  void noConnectionIsClosedWhileMemoryIsFree() {
    ConnectionState stalled = begin(here, "stalled");
    stalled.memory().share().take(BUDGET / 2);
    check(begin(here, "other"), 0);
    assertThat(closed).isEmpty();
  }

  /** The free memory may be more than an eighth, and still too little for a large read. */
  @Test
  void connectionWithoutProgressIsClosedWhenRequestsAreRefused() {
    ConnectionState stalled = begin(here, "stalled");
    stalled.memory().share().take(BUDGET / 4 * 3);
    for (int i = 0; i < CHECKS; i++) {
      connections.relieve();
    }
    assertThat(closed).isEmpty();
    MemoryBudget.Share read = begin(here, "reader").memory().share();
    assertThatThrownBy(() -> read.take(BUDGET / 3)).isInstanceOf(MemoryBudget.Exceeded.class);
    read.close();
    connections.relieve();
    assertThat(closed).containsExactly("stalled");
  }

  @Test
  void closesLargestFirstAndOnlyAsManyAsNeeded() {
    ConnectionState large = begin(here, "large");
    ConnectionState less = begin(here, "less");
    large.memory().share().take(BUDGET / 2);
    MemoryBudget.Share freed = less.memory().share();
    freed.take(BUDGET / 2 - 1000);
    for (int i = 0; i < 4; i++) {
      connections.relieve();
    }
    assertThat(closed).containsExactly("large");
  }

  @Test
  void closeBeforeCloserIsSetIsNotLost() {
    ConnectionState connection = new ConnectionState(memory.holder());
    connection.close("early");
    connection.closedBy(closed::add);
    assertThat(closed).containsExactly("early");
  }
}
