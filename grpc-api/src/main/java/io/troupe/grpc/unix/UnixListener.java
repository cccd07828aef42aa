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
 * A unix socket that takes connections. Its file has the rights that the process's umask leaves (as
 * in etcd), and is removed at the end. Thread-safe.
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
   * Begins to listen. A socket that a process left behind is replaced.
   *
   * @param path of the socket's file, of about 100 bytes at most; its directory must exist
   * @param backlog connections that may wait to be accepted
   * @throws BindException if somebody serves that socket, or the file is something else
   * @throws IOException if the file cannot be made
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
    try (SocketChannel visitor = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      // One that is too busy to answer is alive too: it must not make us wait.
      visitor.configureBlocking(false);
      visitor.connect(UnixDomainSocketAddress.of(path));
    } catch (ConnectException nobody) {
      LOG.info(
          "replacing a socket that nobody serves path={} reason={}", path, nobody.getMessage());
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

  /** Where it listens. */
  public Path path() {
    return path;
  }

  /**
   * The connections, accepted as they are taken; to be run once. Each is a flow from what the
   * client is to get to what it sends, to be run once, and bounded by what its reader takes.
   * Completes when the listener is closed.
   */
  public Source<Flow<ByteString, ByteString, NotUsed>, NotUsed> connections() {
    return Source.fromGraph(accepting)
        .map(accepted -> Flow.fromGraph(new UnixConnection(accepted, loop)));
  }

  /** Takes no more connections and removes the file; connections continue until they end. */
  @Override
  public void close() {
    accepting.stop();
    try {
      // Before the socket is closed: nobody can have put another in its place.
      if (file != null && file.equals(identity(path))) {
        Files.delete(path);
      }
    } catch (NoSuchFileException gone) {
      LOG.debug("somebody removed the socket {}", path);
    } catch (IOException e) {
      LOG.warn("the socket {} could not be removed", path, e);
    }
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("the socket {} could not be closed", path, e);
    }
    loop.close();
  }
}
