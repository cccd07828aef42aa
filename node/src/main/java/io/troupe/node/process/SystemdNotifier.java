package io.troupe.node.process;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the supervisor of this process by systemd's protocol (F10): a datagram to the unix
 * socket that {@code NOTIFY_SOCKET} names. Without that variable nothing is sent. An unreachable
 * supervisor does not affect the member.
 */
public final class SystemdNotifier {
  private static final Logger LOG = LoggerFactory.getLogger(SystemdNotifier.class);

  /** Status of a member that serves. */
  static final String SERVING = "serving clients";

  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int MSG_NOSIGNAL = 0x4000;

  /** Maximum path bytes of a socket address in the kernel. */
  private static final int LONGEST_PATH = 108;

  /** The C library; the JDK has no datagrams over unix sockets. */
  interface C extends Library {
    int socket(int domain, int type, int protocol) throws LastErrorException;

    int sendto(int fd, byte[] data, long length, int flags, byte[] address, int addressLength)
        throws LastErrorException;

    int close(int fd) throws LastErrorException;
  }

  private final String socket;

  private SystemdNotifier(String socket) {
    this.socket = socket;
  }

  /** Returns the notifier of this process. */
  public static SystemdNotifier ofProcess() {
    return at(System.getenv().getOrDefault("NOTIFY_SOCKET", ""));
  }

  /**
   * Returns the notifier of the supervisor at that socket.
   *
   * @param socket path, {@code @} and an abstract name, or empty: no supervisor
   */
  static SystemdNotifier at(String socket) {
    return new SystemdNotifier(socket);
  }

  /** Sets the line that {@code systemctl status} shows. */
  public void status(String line) {
    send("STATUS=" + line);
  }

  /** Notifies that the member serves clients. */
  public void ready() {
    send("READY=1\nSTATUS=" + SERVING);
  }

  /** Notifies that the member makes progress ({@link Watchdog}). */
  public void alive() {
    send("WATCHDOG=1");
  }

  /**
   * Notifies that the process stops.
   *
   * @param cause why
   */
  public void stopping(String cause) {
    send("STOPPING=1\nSTATUS=stopping, cause: " + cause);
  }

  private void send(String state) {
    if (socket.isEmpty()) {
      return;
    }
    try {
      byte[] address = address(socket);
      byte[] data = state.getBytes(StandardCharsets.UTF_8);
      C library = Native.load("c", C.class);
      int fd = library.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      try {
        library.sendto(fd, data, data.length, MSG_NOSIGNAL, address, address.length);
      } finally {
        library.close(fd);
      }
    } catch (IllegalArgumentException | LastErrorException | LinkageError failed) {
      // The last one: the library cannot be unpacked, for example into a directory mounted noexec.
      LOG.warn(
          "cannot notify systemd state={} NOTIFY_SOCKET={} error={}",
          state.replace('\n', ' '),
          socket,
          String.valueOf(failed.getMessage()));
    }
  }

  /** Returns the kernel's form: family, then the path; an abstract name begins with a zero byte. */
  private static byte[] address(String socket) {
    byte[] path = socket.getBytes(StandardCharsets.UTF_8);
    boolean isAbstract = socket.startsWith("@");
    if (!isAbstract && !socket.startsWith("/")) {
      throw new IllegalArgumentException("expected an absolute path, or @ and an abstract name");
    }
    if (path.length > LONGEST_PATH) {
      throw new IllegalArgumentException("longer than " + LONGEST_PATH + " bytes");
    }
    if (isAbstract) {
      path[0] = 0;
    }
    return ByteBuffer.allocate(2 + path.length)
        .order(ByteOrder.nativeOrder())
        .putShort((short) AF_UNIX)
        .put(path)
        .array();
  }
}
