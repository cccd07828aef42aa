package io.troupe.node.logging;

import io.troupe.edge.connection.PortServices;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.TransportReader;
import io.troupe.node.tls.TlsSettings;
import java.net.URI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the state of the ports for clients, in etcd's words (B6). */
public final class ListenerLog {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerLog.class);

  private ListenerLog() {}

  /** Logs that a port is open. */
  public static void opened(NodeSettings settings, URI url, PortServices serves, String address) {
    LOG.info("listening address={} serves={}", address, serves);
    if (serves == PortServices.METRICS) {
      LOG.info("serving metrics address={}", url);
    } else if (!TransportReader.isSecure(url)) {
      settings.clientTls().ifPresent(tls -> unused(tls, url));
    }
  }

  /** Logs that the port serves clients, unless it is for metrics only. */
  public static void serves(URI url, PortServices serves, String address) {
    String traffic =
        switch (serves) {
          case ALL -> "grpc+http";
          case GRPC -> "grpc";
          case HTTP -> "http";
          case METRICS -> "";
        };
    if (traffic.isEmpty()) {
      return;
    }
    LOG.info(
        TransportReader.isSecure(url)
            ? "serving client traffic securely traffic={} address={}"
            : "serving client traffic insecurely; this is strongly discouraged! traffic={} address={}",
        traffic,
        address);
  }

  private static void unused(TlsSettings tls, URI url) {
    LOG.warn(
        "scheme is http or unix while key and cert files are present; ignoring key and cert files"
            + " client-url={}",
        url);
    if (tls.clientCertAuth()) {
      LOG.warn(
          "scheme is http or unix while --client-cert-auth is enabled; ignoring client cert auth"
              + " for this URL client-url={}",
          url);
    }
  }
}
