package io.troupe.tests.malformed;

import io.troupe.testing.SlowClient;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Objects;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/**
 * Malformed input below HTTP on a TLS port: no handshake, or a damaged, truncated, slow or
 * unfinished one, one without a certificate or with a foreign one, and records that violate the
 * protocol after a valid handshake. One connection each. Thread-safe.
 */
final class MalformedHandshakes implements AutoCloseable {
  private static final int RECORD_HEAD = 5;
  private static final int APPLICATION_DATA = 23;
  private static final int ROUNDS = 20;
  private static final int GLANCE_MS = 50;
  private static final int FLIGHT_MS = 200;
  private static final int MOST_SILENT = 60;
  private static final int MOST_TRICKLING = 10;
  private static final String PLAIN =
      "POST /v3/kv/put HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n{\"key\":\"YQ==\"}\r\n";

  private final Target target;

  /** Shows the certificate of an authority that the port does not trust. */
  private final Target foreign;

  /** Shows no certificate. */
  private final Target nameless;

  private final Deque<Socket> silent = new ArrayDeque<>();
  private final Deque<SlowClient> trickling = new ArrayDeque<>();

  MalformedHandshakes(Target target, SSLContext foreign, SSLContext nameless) {
    this.target = target;
    this.foreign = new Target(target.port(), foreign);
    this.nameless = new Target(target.port(), nameless);
  }

  int fire(Random random) throws IOException {
    try {
      switch (random.nextInt(10)) {
        case 0 -> say(random, Mutations.random(random, 3000));
        case 1 -> say(random, PLAIN.getBytes(StandardCharsets.US_ASCII));
        case 2, 3 -> say(random, damagedHello(random));
        case 4 -> silent(random);
        case 5 -> trickle(random);
        case 6 -> damagedFlight(random);
        case 7 -> refused(random.nextBoolean() ? foreign : nameless, random);
        case 8 -> againAndAgain(random);
        default -> brokenRecords(random);
      }
    } catch (SocketTimeoutException | SocketException | SSLException ended) {
      // No response, or the connection is closed: both are valid.
    }
    return 1;
  }

  private void say(Random random, byte[] bytes) throws IOException {
    try (Socket socket = target.dial()) {
      OutputStream out = socket.getOutputStream();
      int cut = random.nextInt(bytes.length + 1);
      out.write(bytes, 0, cut);
      out.write(bytes, cut, bytes.length - cut);
      glance(random, socket);
    }
  }

  private static void glance(Random random, Socket socket) throws IOException {
    if (random.nextBoolean()) {
      socket.setSoTimeout(GLANCE_MS);
      socket.getInputStream().readNBytes(1 << 16);
    }
  }

  /** The first bytes of a client of the JDK. */
  private byte[] hello() throws SSLException {
    SSLEngine engine =
        Objects.requireNonNull(target.tls()).createSSLEngine("127.0.0.1", target.port());
    engine.setUseClientMode(true);
    ByteBuffer bytes = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), bytes);
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  private byte[] damagedHello(Random random) throws SSLException {
    byte[] hello = Mutations.of(random, hello());
    if (hello.length > RECORD_HEAD && random.nextInt(3) > 0) {
      // With corrected lengths, so that the server checks the content.
      ByteBuffer.wrap(hello).put(0, (byte) 22).putShort(3, (short) (hello.length - RECORD_HEAD));
      if (hello.length > 9) {
        ByteBuffer.wrap(hello).putShort(7, (short) (hello.length - 9));
      }
    }
    return hello;
  }

  /** Sends nothing, or half of a message. */
  private void silent(Random random) throws IOException {
    Socket socket = target.dial();
    Socket tooMany = null;
    synchronized (silent) {
      silent.add(socket);
      if (silent.size() > MOST_SILENT) {
        tooMany = silent.remove();
      }
    }
    if (tooMany != null) {
      tooMany.close();
    }
    byte[] hello = hello();
    socket.getOutputStream().write(hello, 0, random.nextInt(hello.length));
  }

  private void trickle(Random random) throws IOException {
    SlowClient next;
    synchronized (trickling) {
      next = trickling.size() < MOST_TRICKLING ? null : trickling.remove();
    }
    if (next == null) {
      byte[] bytes = random.nextBoolean() ? hello() : damagedHello(random);
      next = new SlowClient(target.dial(), bytes);
    }
    try {
      if (next.sayNext()) {
        synchronized (trickling) {
          trickling.add(next);
        }
        next = null;
      }
    } finally {
      if (next != null) {
        next.close();
      }
    }
  }

  /** Its second or a later part is damaged or missing. */
  private void damagedFlight(Random random) throws IOException {
    try (Socket below = target.dialed(new DamagingSocket(random, 1 + random.nextInt(4)));
        SSLSocket socket = target.over(below, random)) {
      // The server may wait for the rest until the handshake timeout.
      socket.setSoTimeout(FLIGHT_MS);
      socket.startHandshake();
      socket.getOutputStream().write(PLAIN.getBytes(StandardCharsets.US_ASCII));
      glance(random, socket);
    }
  }

  /** The client learns of it at its first response at the latest. */
  private static void refused(Target with, Random random) throws IOException {
    boolean served = false;
    try (SSLSocket socket = with.over(with.dial(), random)) {
      socket.startHandshake();
      socket.getOutputStream().write(PLAIN.getBytes(StandardCharsets.US_ASCII));
      served = socket.getInputStream().read() >= 0;
    }
    if (served) {
      throw new AssertionError("served without a certificate that is trusted");
    }
  }

  /** A key update, or a new handshake, repeatedly. */
  private void againAndAgain(Random random) throws IOException {
    try (SSLSocket socket = target.over(target.dial(), random)) {
      for (int i = 0; i < ROUNDS; i++) {
        socket.startHandshake();
      }
      glance(random, socket);
    }
  }

  private void brokenRecords(Random random) throws IOException {
    try (Socket below = target.dial();
        SSLSocket socket = target.over(below, random)) {
      socket.startHandshake();
      if (random.nextBoolean()) {
        socket.getOutputStream().write(PLAIN.getBytes(StandardCharsets.US_ASCII));
      }
      byte[] content = Mutations.random(random, random.nextInt(5) == 0 ? 0 : 500);
      int type = random.nextInt(3) > 0 ? APPLICATION_DATA : random.nextInt(256);
      int length = random.nextInt(3) > 0 ? content.length : random.nextInt(1 << 16);
      byte[] record =
          ByteBuffer.allocate(RECORD_HEAD + content.length)
              .put((byte) type)
              .putShort((short) (random.nextInt(4) > 0 ? 0x303 : random.nextInt()))
              .putShort((short) length)
              .put(content)
              .array();
      below.getOutputStream().write(record);
      glance(random, socket);
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (silent) {
      for (Socket socket : silent) {
        socket.close();
      }
    }
    synchronized (trickling) {
      for (SlowClient trickle : trickling) {
        trickle.close();
      }
    }
  }
}
