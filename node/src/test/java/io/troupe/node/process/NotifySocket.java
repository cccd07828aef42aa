package io.troupe.node.process;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.awaitility.Awaitility;

/** The supervisor side of systemd notifications: a unix socket that receives datagrams. */
public final class NotifySocket implements AutoCloseable {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int EAGAIN = 11;

  /** The C library. */
  interface C extends Library {
    int socket(int domain, int type, int protocol) throws LastErrorException;

    int bind(int fd, byte[] address, int length) throws LastErrorException;

    long recv(int fd, byte[] into, long length, int flags) throws LastErrorException;

    int close(int fd) throws LastErrorException;
  }

  private final C library = Native.load("c", C.class);
  private final int fd;

  /**
   * Binds the socket.
   *
   * @param name a path, or {@code @} and an abstract name
   */
  public NotifySocket(String name) {
    byte[] path = name.getBytes(StandardCharsets.UTF_8);
    if (name.startsWith("@")) {
      path[0] = 0;
    }
    byte[] address =
        ByteBuffer.allocate(2 + path.length)
            .order(ByteOrder.nativeOrder())
            .putShort((short) AF_UNIX)
            .put(path)
            .array();
    fd = library.socket(AF_UNIX, SOCK_DGRAM, 0);
    library.bind(fd, address, address.length);
  }

  /** The received notifications that were not read yet; empty if there are none. */
  public String poll() {
    byte[] into = new byte[1024];
    try {
      long read = library.recv(fd, into, into.length, MSG_DONTWAIT);
      return new String(into, 0, (int) read, StandardCharsets.UTF_8);
    } catch (LastErrorException none) {
      if (none.getErrorCode() != EAGAIN) {
        throw none;
      }
      return "";
    }
  }

  /** The next notification. */
  public String await() {
    return Awaitility.await("a notification")
        .atMost(Duration.ofMinutes(1))
        .until(this::poll, text -> !text.isEmpty());
  }

  @Override
  public void close() {
    library.close(fd);
  }
}
