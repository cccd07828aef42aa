package io.troupe.actors.peers;

import io.troupe.model.EtcdVersion;
import io.troupe.protocol.PeerChannel;
import io.troupe.protocol.PeerGreeting;
import io.troupe.version.VersionRules;
import java.util.List;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** Rules for greetings that hold for all channels, and the versions of the protocol. */
final class GreetingRules {
  /** The only version of the protocol (docs/formats/peer-connection.md). */
  static final int VERSION = 1;

  private static final int MAX_URL_CHARS = 512;

  private GreetingRules() {}

  /** Newest version that both sides speak; 0 if there is none. */
  static int version(PeerGreeting greeting) {
    return greeting.oldest() <= VERSION && greeting.newest() >= VERSION ? VERSION : 0;
  }

  /**
   * Checks a greeting.
   *
   * @param self address of this member
   * @param tls whether members speak TLS
   * @param server version of etcd's API that this member serves; queries pass with any version,
   *     because a process that cannot join gets its reason with the reply
   * @return null if it is valid, otherwise the reason
   */
  static @Nullable String refusal(
      PeerGreeting greeting, PeerAddress self, boolean tls, EtcdVersion server) {
    if (version(greeting) == 0) {
      return "this member speaks version "
          + VERSION
          + " of the protocol between members, the other one "
          + greeting.oldest()
          + " to "
          + greeting.newest();
    }
    PeerAddress from;
    try {
      from = PeerAddress.of(greeting.fromUrl());
    } catch (IllegalArgumentException noUrl) {
      return "it names no peer URL of its own";
    }
    if (greeting.fromUrl().length() > MAX_URL_CHARS) {
      return "its peer URL is too long";
    }
    if (PeerAddress.isTls(greeting.fromUrl()) != tls) {
      return "its peer URL has the other scheme: use https in all peer URLs or in none";
    }
    if (from.equals(self)) {
      return "it uses the peer URL of this member";
    }
    return greeting.channel() == PeerChannel.QUERY
        ? null
        : VersionRules.refusePeer(server, greeting.server());
  }

  /**
   * True if the certificate of a connection is valid for a sender: for one of the hosts of its peer
   * URLs, or for the URL that it names if it is no member as far as is known here.
   *
   * @param urls peer URLs of the sender; empty if it is no member
   */
  static boolean isOwn(PeerGreeting greeting, List<String> urls, PeerTls tls, SSLSession session) {
    if (!isFor(tls, session, greeting.fromUrl())) {
      return false;
    }
    return urls.isEmpty() || urls.stream().anyMatch(url -> isFor(tls, session, url));
  }

  private static boolean isFor(PeerTls tls, SSLSession session, String url) {
    try {
      return tls.isFor(session, PeerAddress.of(url).bareHost());
    } catch (IllegalArgumentException noUrl) {
      return false;
    }
  }
}
