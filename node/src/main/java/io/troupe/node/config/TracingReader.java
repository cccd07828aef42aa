package io.troupe.node.config;

import io.troupe.node.tracing.TracingSettings;
import java.util.Optional;

/** Reads the settings of tracing. */
final class TracingReader {
  private final SettingsReader reader;

  TracingReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** F7: the other settings of tracing are checked only if it is enabled. */
  Optional<TracingSettings> read() {
    if (!reader.flag("tracing.enabled")) {
      return Optional.empty();
    }
    String address = reader.text("tracing.address");
    if (!SettingsReader.isHostAndPort(address)) {
      throw SettingsReader.wrong("tracing.address", address, "host:port");
    }
    return Optional.of(
        new TracingSettings(
            address,
            reader.text("tracing.service-name"),
            reader.text("tracing.instance-id"),
            (int) reader.number("tracing.sampling-rate", 0, 1_000_000)));
  }
}
