package io.troupe.node.tls;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** Two engines that exchange messages in memory until both have sent and received a byte. */
final class Handshake {
  private static final int ROUNDS = 100;

  private Handshake() {}

  /** Runs it; throws the exception with which either side refuses the other. */
  static void run(SSLEngine client, SSLEngine server) throws SSLException {
    ByteBuffer toServer = ByteBuffer.allocate(1 << 16);
    ByteBuffer toClient = ByteBuffer.allocate(1 << 16);
    ByteBuffer atServer = ByteBuffer.allocate(1 << 16);
    ByteBuffer atClient = ByteBuffer.allocate(1 << 16);
    ByteBuffer question = ByteBuffer.wrap(new byte[] {1});
    ByteBuffer answer = ByteBuffer.wrap(new byte[] {2});
    for (int i = 0; i < ROUNDS; i++) {
      wrap(client, question, toServer);
      unwrap(server, toServer, atServer);
      wrap(server, answer, toClient);
      unwrap(client, toClient, atClient);
      if (atServer.position() == 1 && atClient.position() == 1) {
        return;
      }
    }
    throw new SSLException("no end of the handshake");
  }

  private static void wrap(SSLEngine engine, ByteBuffer data, ByteBuffer net) throws SSLException {
    SSLEngineResult result;
    do {
      result = engine.wrap(data, net);
      tasks(engine);
    } while (result.bytesProduced() > 0
        && result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP);
  }

  private static void unwrap(SSLEngine engine, ByteBuffer net, ByteBuffer data)
      throws SSLException {
    net.flip();
    SSLEngineResult result;
    do {
      result = engine.unwrap(net, data);
      tasks(engine);
    } while (result.bytesConsumed() > 0 && net.hasRemaining());
    net.compact();
  }

  private static void tasks(SSLEngine engine) {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }
}
