package io.troupe.actors.peers;

import io.troupe.testing.SlowClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Malformed input for peer ports, drawn from a seed: random bytes, genuine bytes of other members
 * changed, lengths that no frame has, connections that say nothing, and some that say it slowly. On
 * ports with TLS in place of its handshake, or behind a good one.
 */
public final class PeerPortFuzz implements AutoCloseable {
  private static final int MAX_HALF_OPEN = 60;
  private static final int MAX_TRICKLING = 10;

  /** Addresses from which frames are said that members say, if TLS is in front. */
  private static final int MEMBERS = 6;

  private static final int[] LENGTHS = {
    -1, -4, -5, 0, 1, 33, 1 << 18, (1 << 18) + 1, 1 << 30, Integer.MIN_VALUE, Integer.MAX_VALUE
  };

  private final Random random;
  private final List<Integer> ports;
  private final List<List<List<byte[]>>> genuine;
  private final boolean tls;
  private final @Nullable SSLSocketFactory behind;
  private final Deque<Socket> halfOpen = new ArrayDeque<>();
  private final Deque<SlowClient> trickling = new ArrayDeque<>();
  private long connections;

  /**
   * Malformed input for these ports.
   *
   * @param recorded what others sent to each port, a piece for each connection
   * @param tls whether they speak TLS
   */
  public PeerPortFuzz(long seed, List<Integer> ports, List<List<byte[]>> recorded, boolean tls) {
    this(seed, ports, recorded, tls, null);
  }

  /**
   * Malformed input for ports with TLS, said behind good handshakes.
   *
   * @param recorded what others sent to each port inside TLS, a piece for each connection
   */
  public static PeerPortFuzz behindTls(
      long seed, List<Integer> ports, List<List<byte[]>> recorded, SSLSocketFactory behind) {
    return new PeerPortFuzz(seed, ports, recorded, false, behind);
  }

  private PeerPortFuzz(
      long seed,
      List<Integer> ports,
      List<List<byte[]>> recorded,
      boolean tls,
      @Nullable SSLSocketFactory behind) {
    this.random = new Random(seed);
    this.behind = behind;
    this.ports = ports;
    this.tls = tls;
    this.genuine =
        recorded.stream()
            .map(
                ofPort ->
                    ofPort.stream()
                        .map(bytes -> tls ? records(bytes) : frames(bytes))
                        .filter(units -> units.size() > 1)
                        .toList())
            .toList();
    if (genuine.stream().anyMatch(List::isEmpty)) {
      throw new IllegalArgumentException("nothing was recorded on a port");
    }
  }

  /** Connections opened so far. */
  public long connections() {
    return connections;
  }

  /** Frames with their heads; the first one is the greeting. */
  private static List<byte[]> frames(byte[] bytes) {
    List<byte[]> units = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int at = 0;
    while (at + 5 <= bytes.length && at + 5 + in.getInt(at) <= bytes.length) {
      int next = at + 5 + in.getInt(at);
      units.add(Arrays.copyOfRange(bytes, at, next));
      at = next;
    }
    return units;
  }

  /** TLS records. */
  private static List<byte[]> records(byte[] bytes) {
    List<byte[]> units = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int at = 0;
    while (at + 5 <= bytes.length
        && at + 5 + Short.toUnsignedInt(in.getShort(at + 3)) <= bytes.length) {
      int next = at + 5 + Short.toUnsignedInt(in.getShort(at + 3));
      units.add(Arrays.copyOfRange(bytes, at, next));
      at = next;
    }
    return units;
  }

  /**
   * Opens a connection or continues with some, and says something malformed.
   *
   * @return how many malformed inputs that were
   */
  public int step() throws IOException {
    int target = random.nextInt(ports.size());
    int port = ports.get(target);
    int kind = random.nextInt(100);
    try {
      if (kind < 10) {
        say(port, rubbish(1 + random.nextInt(2000)));
      } else if (kind < 20) {
        say(port, join(start(target), rubbish(1 + random.nextInt(200))));
      } else if (kind < 28) {
        say(port, join(start(target), length(), rubbish(random.nextInt(100))));
      } else if (kind < 31) {
        halfOpen(port, random.nextBoolean() ? start(target) : new byte[0]);
      } else if (kind < 34) {
        trickle(port, changed(target, new int[1]));
      } else {
        int[] inputs = new int[1];
        say(port, changed(target, inputs));
        return inputs[0];
      }
    } catch (IOException cut) {
      // The other side ended it while it was spoken to, as it should.
      return 1;
    }
    return 1;
  }

  private byte[] start(int target) {
    List<List<byte[]>> all = genuine.get(target);
    return all.get(random.nextInt(all.size())).get(0);
  }

  private byte[] length() {
    int value = LENGTHS[random.nextInt(LENGTHS.length)];
    return tls
        ? ByteBuffer.allocate(5)
            .put((byte) 23)
            .putShort((short) 0x303)
            .putShort((short) value)
            .array()
        : ByteBuffer.allocate(5).putInt(value).put((byte) random.nextInt(10)).array();
  }

  private byte[] rubbish(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** What a member said, with some of it changed. */
  private byte[] changed(int target, int[] inputs) {
    List<List<byte[]>> all = genuine.get(target);
    List<byte[]> units = all.get(random.nextInt(all.size()));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(units.get(0));
    int first = tls || random.nextInt(3) == 0 ? 1 : 1 + random.nextInt(units.size() - 1);
    int count = 1 + random.nextInt(4);
    for (int i = first; i < Math.min(units.size(), first + count); i++) {
      // The handshake may be whole: what comes behind it is checked then.
      if (i == 1 && random.nextInt(3) == 0) {
        out.writeBytes(units.get(i));
      } else {
        out.writeBytes(changed(units.get(i)));
        inputs[0]++;
      }
    }
    if (inputs[0] == 0) {
      out.writeBytes(changed(units.get(units.size() - 1)));
      inputs[0]++;
    }
    return out.toByteArray();
  }

  private byte[] changed(byte[] unit) {
    byte[] bytes = unit.clone();
    int head = Math.min(bytes.length, 160);
    int changes = 1 + random.nextInt(3);
    for (int i = 0; i < changes && bytes.length > 4; i++) {
      // Most of what can be wrong is at the beginning.
      int at = random.nextInt(random.nextBoolean() ? Math.min(head, bytes.length) : bytes.length);
      switch (random.nextInt(6)) {
        case 0, 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> bytes[at] = (byte) random.nextInt(256);
        case 3 -> bytes = fitting(Arrays.copyOf(bytes, Math.max(5, at)));
        case 4 -> {
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(50));
          System.arraycopy(bytes, at, longer, at + longer.length - bytes.length, bytes.length - at);
          bytes = fitting(longer);
        }
        default ->
            ByteBuffer.wrap(bytes)
                .putInt(Math.min(at, bytes.length - 4), LENGTHS[random.nextInt(LENGTHS.length)]);
      }
    }
    return bytes;
  }

  /** With the length that it has now, so that what is inside is checked. */
  private byte[] fitting(byte[] bytes) {
    if (!tls) {
      ByteBuffer.wrap(bytes).putInt(0, bytes.length - 5);
    } else {
      ByteBuffer.wrap(bytes).putShort(3, (short) (bytes.length - 5));
    }
    return bytes;
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  /** From changing addresses: the ports of one would be used up by connections that just ended. */
  private Socket connect(int port) throws IOException {
    Socket socket = new Socket();
    long number = connections++;
    byte[] from = {127, 0, (byte) (1 + number / 200 % 50), (byte) (1 + number % 200)};
    // Few handshakes of unknown peers are checked: most come from where members are.
    if (behind != null || (tls && random.nextInt(4) > 0)) {
      from[2] = 99;
      from[3] = (byte) (1 + number % MEMBERS);
    }
    socket.bind(new InetSocketAddress(InetAddress.getByAddress(from), 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
    if (behind == null) {
      return socket;
    }
    SSLSocket secured = (SSLSocket) behind.createSocket(socket, "127.0.0.1", port, true);
    secured.setSoTimeout(10_000);
    try {
      secured.startHandshake();
      return secured;
    } catch (IOException refused) {
      secured.close();
      throw refused;
    }
  }

  private void say(int port, byte[] bytes) throws IOException {
    try (Socket socket = connect(port)) {
      socket.getOutputStream().write(bytes);
    }
  }

  private void halfOpen(int port, byte[] first) throws IOException {
    Socket socket = connect(port);
    halfOpen.add(socket);
    if (halfOpen.size() > MAX_HALF_OPEN) {
      halfOpen.remove().close();
    }
    socket.getOutputStream().write(first);
  }

  private void trickle(int port, byte[] bytes) throws IOException {
    if (trickling.size() < MAX_TRICKLING) {
      trickling.add(new SlowClient(connect(port), bytes));
      return;
    }
    SlowClient next = trickling.remove();
    try {
      if (next.sayNext()) {
        trickling.add(next);
      } else {
        next.close();
      }
    } catch (IOException ended) {
      next.close();
      throw ended;
    }
  }

  /** Closes what is open. */
  @Override
  public void close() throws IOException {
    for (Socket socket : halfOpen) {
      socket.close();
    }
    for (SlowClient trickle : trickling) {
      trickle.close();
    }
    halfOpen.clear();
    trickling.clear();
  }
}
