package io.troupe.edge.unix;

import java.io.Closeable;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a listening unix socket. The process's umask sets its permissions (as in etcd).
 * {@link #close} removes it. Thread-safe.
 */
public final class UnixSocketFile implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(UnixSocketFile.class);

  private final Path path;
  private final @Nullable Object file;
  private final ServerSocketChannel channel;

  private UnixSocketFile(Path path, @Nullable Object file, ServerSocketChannel channel) {
    this.path = path;
    this.file = file;
    this.channel = channel;
  }

  /**
   * Starts to listen. Replaces a stale socket of another process.
   *
   * @param path of the socket's file, about 100 bytes at most; its directory must exist
   * @param backlog connections that may wait to be accepted
   * @throws BindException if another process serves that socket, or the file is not a socket
   * @throws IOException if the file cannot be created
   */
  public static UnixSocketFile open(Path path, int backlog) throws IOException {
    removeStale(path);
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(path), backlog);
      return new UnixSocketFile(path, identity(path), channel);
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

  /** Accepts connections; owned by this file. */
  public ServerSocketChannel channel() {
    return channel;
  }

  /** Removes the file and accepts no more connections. */
  @Override
  public void close() {
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
  }
}
