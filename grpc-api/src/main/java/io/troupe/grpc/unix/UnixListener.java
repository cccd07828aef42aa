package io.troupe.grpc.unix;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A unix socket that accepts connections. The process's umask sets the permissions of its file (as
 * in etcd). {@link #close} removes the file. Thread-safe.
 */
public final class UnixListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnixListener.class);

  private final Path path;
  private final @Nullable Object file;
  private final ServerSocketChannel channel;
  private final SocketLoop loop;
  private final Accepting accepting;

  private UnixListener(
      Path path, @Nullable Object file, ServerSocketChannel channel, SocketLoop loop)
      throws IOException {
    this.path = path;
    this.file = file;
    this.channel = channel;
    this.loop = loop;
    this.accepting = new Accepting(channel, loop);
  }

  /**
   * Starts to listen. Replaces a stale socket of another process.
   *
   * @param path of the socket's file, about 100 bytes at most; its directory must exist
   * @param backlog connections that may wait to be accepted
   * @throws BindException if another process serves that socket, or the file is not a socket
   * @throws IOException if the file cannot be created
   */
  public static UnixListener open(Path path, int backlog) throws IOException {
    removeStale(path);
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(path), backlog);
      return new UnixListener(path, identity(path), channel, new SocketLoop("unix " + path));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static void removeStale(Path path) throws IOException {
    BasicFileAttributes found;
    try {
      found = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException free) {
      return;
    }
    if (!found.isOther()) {
      throw new BindException(path + " exists and is no socket");
    }
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      // A server that is too busy to accept is alive too; this process must not wait for it.
      probe.configureBlocking(false);
      probe.connect(UnixDomainSocketAddress.of(path));
    } catch (ConnectException stale) {
      LOG.info("replacing stale unix socket path={} reason={}", path, stale.getMessage());
      Files.deleteIfExists(path);
      return;
    } catch (SocketException busyOrForbidden) {
      BindException refused =
          new BindException(path + " cannot be taken: " + busyOrForbidden.getMessage());
      refused.initCause(busyOrForbidden);
      throw refused;
    }
    throw new BindException("another process serves " + path);
  }

  private static @Nullable Object identity(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }

  /** The path of the socket's file. */
  public Path path() {
    return path;
  }

  /**
   * The connections, accepted on demand; materialize it once. Each is a flow from the bytes for the
   * client to the bytes of the client; materialize it once too. Backpressure of its reader limits
   * it. Completes when the listener is closed.
   */
  public Source<Flow<ByteString, ByteString, NotUsed>, NotUsed> connections() {
    return Source.fromGraph(accepting)
        .map(accepted -> Flow.fromGraph(new UnixConnection(accepted, loop)));
  }

  /** Accepts no more connections and removes the file; open connections continue. */
  @Override
  public void close() {
    accepting.stop();
    try {
      // Before the socket is closed: no other process can have replaced the file.
      if (file != null && file.equals(identity(path))) {
        Files.delete(path);
      }
    } catch (NoSuchFileException gone) {
      LOG.debug("unix socket file was already removed path={}", path);
    } catch (IOException e) {
      LOG.warn("cannot remove unix socket file path={}", path, e);
    }
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("cannot close unix socket path={}", path, e);
    }
    loop.close();
  }
}
