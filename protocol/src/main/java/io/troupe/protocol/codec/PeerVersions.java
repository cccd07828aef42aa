package io.troupe.protocol.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.model.EtcdVersion;
import org.jspecify.annotations.Nullable;

/** Versions in messages between members: text, empty for none. */
final class PeerVersions {
  private PeerVersions() {}

  static String text(@Nullable EtcdVersion version) {
    return version == null ? "" : version.toString();
  }

  /** Null for an empty text. */
  static @Nullable EtcdVersion version(String text) throws InvalidProtocolBufferException {
    return text.isEmpty() ? null : required(text);
  }

  static EtcdVersion required(String text) throws InvalidProtocolBufferException {
    try {
      return EtcdVersion.parse(text);
    } catch (IllegalArgumentException e) {
      throw new InvalidProtocolBufferException("bad version: " + e.getMessage(), e);
    }
  }
}
