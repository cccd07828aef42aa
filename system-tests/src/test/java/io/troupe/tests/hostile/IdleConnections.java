package io.troupe.tests.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Connections that send only the HTTP/2 preface. */
final class IdleConnections implements Attack {
  private final int connections;

  IdleConnections(int connections) {
    this.connections = connections;
  }

  @Override
  public Held on(Target target) throws IOException {
    List<RawConnection> held = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      try {
        held.add(RawConnection.narrow(target));
      } catch (IOException refused) {
        // The member accepts no more.
      }
    }
    return () -> held.forEach(RawConnection::close);
  }
}
