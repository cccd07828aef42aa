package io.troupe.bench.load;

import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EventLoops;
import java.util.List;

/**
 * A server under load, and the parts of the load.
 *
 * @param loops the generator's threads
 * @param endpoints addresses of the members
 * @param meter measures what the server uses
 * @param keyspace the keys
 * @param settings sizes and times
 */
public record Target(
    EventLoops loops,
    List<Endpoint> endpoints,
    Meter meter,
    Keyspace keyspace,
    LoadSettings settings) {

  /** Waits for an idle machine as long as the settings allow. */
  void awaitQuiet() {
    meter.awaitQuiet(settings.quietWait());
  }

  /** Connections for {@code clients} clients: one each, up to the maximum. */
  Connections connect(int clients) {
    return new Connections(loops, endpoints, Math.min(clients, settings.maxConnections()));
  }
}
