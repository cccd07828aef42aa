package io.troupe.node.ports;

import io.troupe.edge.unix.UnixSocketFile;
import io.troupe.node.config.ListenAddress;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.SocketUrl;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks at the beginning of a start that all addresses can be bound, before anything is written:
 * binds all of them and releases them. Another process may still take one before the member binds
 * it; that fails the start too.
 */
public final class FreeAddresses {
  private final List<Closeable> bound = new ArrayList<>();

  private FreeAddresses() {}

  /**
   * Returns if all listen addresses of the settings are free.
   *
   * @throws StartException ADDRESS with the key and the URL of the first that is not
   */
  public static void require(NodeSettings settings) {
    FreeAddresses addresses = new FreeAddresses();
    try {
      boolean shared = settings.http().sharedPorts();
      addresses.bind("listen-client-urls", settings.listenClientUrls(), shared);
      addresses.bind("listen-client-http-urls", settings.http().listenUrls(), shared);
      addresses.bind("listen-metrics-urls", settings.http().metricsUrls(), shared);
      addresses.bind("listen-peer-urls", settings.boundPeerUrls(), false);
    } finally {
      addresses.release();
    }
  }

  /** A URL with TLS and one without may have the same address. */
  private void bind(String key, List<URI> urls, boolean shared) {
    List<URI> done = new ArrayList<>();
    for (URI url : urls) {
      if (done.stream().noneMatch(other -> ListenAddress.isSame(url, other))) {
        bind(key, url, shared);
      }
      done.add(url);
    }
  }

  private void bind(String key, URI url, boolean shared) {
    try {
      if (SocketUrl.is(url)) {
        bound.add(UnixSocketFile.open(SocketUrl.path(url), 1));
        return;
      }
      ServerSocket socket = new ServerSocket();
      bound.add(socket);
      if (shared) {
        socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      }
      InetSocketAddress address = new InetSocketAddress(bareHost(url), url.getPort());
      if (address.isUnresolved()) {
        throw new UnknownHostException("unknown host " + url.getHost());
      }
      socket.bind(address, 1);
    } catch (IOException refused) {
      throw new StartException(
          ExitCode.ADDRESS,
          "cannot listen on troupe." + key + " = " + url + ": " + reason(refused, url),
          refused);
    }
  }

  private static String bareHost(URI url) {
    return url.getHost().replace("[", "").replace("]", "");
  }

  private static String reason(IOException refused, URI url) {
    String reason = String.valueOf(refused.getMessage());
    return refused instanceof BindException && reason.startsWith("Address already in use")
        ? "Address already in use; the command ss -ltnp \"sport = :"
            + url.getPort()
            + "\" names the process"
        : reason;
  }

  private void release() {
    IOException failed = null;
    for (Closeable each : bound) {
      try {
        each.close();
      } catch (IOException e) {
        failed = e;
      }
    }
    if (failed != null) {
      throw new StartException(
          ExitCode.UNEXPECTED, "cannot release a listen address: " + failed.getMessage(), failed);
    }
  }
}
