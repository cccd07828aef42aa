package io.troupe.edge.unix;

import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * A unix socket that accepts connections. The process's umask sets the permissions of its file (as
 * in etcd). {@link #close} removes the file. Thread-safe.
 */
public final class UnixListener implements AutoCloseable {
  private final UnixSocketFile file;
  private final SocketLoop loop;
  private final Accepting accepting;

  private UnixListener(UnixSocketFile file, SocketLoop loop) throws IOException {
    this.file = file;
    this.loop = loop;
    this.accepting = new Accepting(file.channel(), loop);
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
    UnixSocketFile file = UnixSocketFile.open(path, backlog);
    try {
      return new UnixListener(file, new SocketLoop("unix " + path));
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** The path of the socket's file. */
  public Path path() {
    return file.path();
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
    file.close();
    loop.close();
  }
}
