package io.troupe.node.discovery;

import io.troupe.node.discovery.Dns.Target;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A name server on loopback with SRV records (RFC 1035, RFC 2782). */
public final class NameServer implements AutoCloseable {
  private static final int SRV = 33;
  private static final int SERVER_FAILURE = 2;
  private static final int NO_SUCH_NAME = 3;

  private final DatagramSocket socket;
  private final Map<String, List<Target>> records = new ConcurrentHashMap<>();
  private volatile boolean failing;

  public NameServer() throws SocketException {
    this.socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve, "name-server");
    thread.setDaemon(true);
    thread.start();
  }

  /** host:port */
  public String address() {
    return socket.getLocalAddress().getHostAddress() + ":" + socket.getLocalPort();
  }

  /**
   * Adds the records of a name.
   *
   * @param targets host:port of each
   */
  public void put(String name, List<String> targets) {
    records.put(
        name,
        targets.stream()
            .map(target -> target.split(":", -1))
            .map(parts -> new Target(parts[0], Integer.parseInt(parts[1])))
            .toList());
  }

  /** Fails all later queries with SERVFAIL. */
  public void fail() {
    failing = true;
  }

  private void serve() {
    byte[] buffer = new byte[1500];
    try {
      while (true) {
        DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
        socket.receive(packet);
        byte[] answer = answer(ByteBuffer.wrap(buffer, 0, packet.getLength()));
        socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
      }
    } catch (IOException closed) {
      if (!socket.isClosed()) {
        throw new IllegalStateException(closed);
      }
    }
  }

  private byte[] answer(ByteBuffer question) throws IOException {
    int id = question.getShort(0) & 0xffff;
    question.position(12);
    StringBuilder name = new StringBuilder();
    for (int length = question.get(); length > 0; length = question.get()) {
      byte[] label = new byte[length];
      question.get(label);
      name.append(name.length() == 0 ? "" : ".").append(new String(label, StandardCharsets.UTF_8));
    }
    int type = question.getShort();
    Optional<List<Target>> known = Optional.ofNullable(records.get(name.toString()));
    List<Target> found = type == SRV && !failing ? known.orElse(List.of()) : List.of();
    int code = failing ? SERVER_FAILURE : known.isPresent() ? 0 : NO_SUCH_NAME;

    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeShort(id);
    // A response with recursion available.
    out.writeShort(0x8580 | code);
    out.writeShort(1);
    out.writeShort(found.size());
    out.writeInt(0);
    name(out, name.toString());
    out.writeShort(type);
    out.writeShort(1);
    for (Target target : found) {
      ByteArrayOutputStream data = new ByteArrayOutputStream();
      DataOutputStream record = new DataOutputStream(data);
      record.writeShort(10);
      record.writeShort(5);
      record.writeShort(target.port());
      name(record, target.host());
      // The name in the query.
      out.writeShort(0xc00c);
      out.writeShort(SRV);
      out.writeShort(1);
      out.writeInt(60);
      out.writeShort(data.size());
      data.writeTo(out);
    }
    return bytes.toByteArray();
  }

  private static void name(DataOutputStream out, String name) throws IOException {
    for (String label : name.split("\\.", -1)) {
      byte[] bytes = label.getBytes(StandardCharsets.UTF_8);
      out.writeByte(bytes.length);
      out.write(bytes);
    }
    out.writeByte(0);
  }

  @Override
  public void close() {
    socket.close();
  }
}
