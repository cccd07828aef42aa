package io.troupe.node;

import io.troupe.node.tracing.TracingSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;

/** Where calls are traced to, out of the configuration. */
final class TracingReader {
  private final SettingsReader reader;

  TracingReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** F7: what tracing is told counts only when it is on. */
  Optional<TracingSettings> read() {
    if (!reader.flag("tracing.enabled")) {
      return Optional.empty();
    }
    String address = reader.text("tracing.address");
    if (!isHostAndPort(address)) {
      throw SettingsReader.wrong("tracing.address", address, "host:port");
    }
    return Optional.of(
        new TracingSettings(
            address,
            reader.text("tracing.service-name"),
            reader.text("tracing.instance-id"),
            (int) reader.number("tracing.sampling-rate", 0, 1_000_000)));
  }

  private static boolean isHostAndPort(String address) {
    try {
      URI url = new URI("http://" + address);
      return url.getHost() != null
          && url.getPort() > 0
          && url.getPort() <= 65535
          && address.equals(url.getHost() + ":" + url.getPort());
    } catch (URISyntaxException malformed) {
      return false;
    }
  }
}
