package io.troupe.actors.peers;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import java.util.Map;

/** Pekko's configuration for the transport between members. */
public final class PeerConfig {
  /** Name of every member's actor system: it is part of the addresses. */
  public static final String SYSTEM = "troupe";

  /** Name of the actor that takes Raft's messages. */
  static final String RAFT_INBOX = "peers";

  /** Name of the actor that takes snapshots; its messages have a connection of their own. */
  static final String SNAPSHOT_INBOX = "peer-snapshots";

  /** Name of the actor for queries between members outside of Raft. */
  static final String QUERIES = "peer-queries";

  /** What {@link PeerPortExtension} opens. */
  static final String PORT_HOST = "troupe-peers.bind.hostname";

  static final String PORT_NUMBER = "troupe-peers.bind.port";

  private PeerConfig() {}

  /**
   * Remoting of one member, to be put before all other configuration.
   *
   * @param canonical from the first peer URL as text: what others call this member
   * @param bind from the listen peer URL: what the member binds
   * @param tls whether the members speak TLS, in both directions; then the actor system needs
   *     {@link PeerTls#setup} too
   */
  public static Config of(PeerAddress canonical, PeerAddress bind, boolean tls) {
    String artery = "pekko.remote.artery.";
    return ConfigFactory.parseMap(
            Map.of(
                artery + "transport",
                tls ? "tls-tcp" : "tcp",
                artery + "canonical.hostname",
                canonical.host(),
                artery + "canonical.port",
                canonical.port(),
                PORT_HOST,
                bind.host().replace("[", "").replace("]", ""),
                PORT_NUMBER,
                bind.port()))
        .withFallback(
            ConfigFactory.parseResources(
                PeerConfig.class.getClassLoader(),
                "troupe-peers.conf",
                ConfigParseOptions.defaults().setAllowMissing(false)));
  }

  /**
   * Connections to other members come from that address; to be put before {@link #of}.
   *
   * @param localHost an address of this machine, without brackets
   */
  public static Config from(String localHost) {
    return ConfigFactory.parseMap(
        Map.of("pekko.remote.artery.advanced.tcp.outbound-client-hostname", localHost));
  }
}
