package io.troupe.tests.malformed;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import io.troupe.grpc.api.RpcProto;
import io.troupe.grpc.api.backup.BackupProto;
import io.troupe.grpc.api.election.ElectionProto;
import io.troupe.grpc.api.health.HealthProto;
import io.troupe.grpc.api.lock.LockProto;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A client port and its methods.
 *
 * @param tls what clients show and trust; null if the port is plain
 */
record Target(int port, @Nullable SSLContext tls) {
  /** Methods that cost time rather than robustness; seldom drawn. */
  private static final Set<String> COSTLY =
      Set.of("Defragment", "Hash", "HashKV", "UserAdd", "UserChangePassword", "Authenticate");

  /** These methods may wait for other clients until the deadline of the caller. */
  private static final Set<String> WAITING = Set.of("Lock", "Campaign", "Observe", "Watch");

  private static final List<String[]> OFFERS =
      List.of(
          new String[0],
          new String[] {"h2"},
          new String[] {"http/1.1"},
          new String[] {"h2", "http/1.1"});

  private static final List<MethodDescriptor> METHODS = methods();

  private static List<MethodDescriptor> methods() {
    List<MethodDescriptor> all = new ArrayList<>();
    for (FileDescriptor file :
        List.of(
            RpcProto.getDescriptor(),
            ElectionProto.getDescriptor(),
            LockProto.getDescriptor(),
            HealthProto.getDescriptor(),
            BackupProto.getDescriptor())) {
      file.getServices().forEach(service -> all.addAll(service.getMethods()));
    }
    return all;
  }

  /** A connection that accepts a request, after a handshake if the port needs one. */
  Socket connect(Random random) throws IOException {
    return tls == null ? dial() : secured(dial(), random);
  }

  /** A connection before its first byte. */
  Socket dial() throws IOException {
    return dialed(new Socket());
  }

  Socket dialed(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(20_000);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 20_000);
    return socket;
  }

  /** A valid handshake with a random version and random protocols that a client may offer. */
  private SSLSocket secured(Socket plain, Random random) throws IOException {
    SSLSocket socket = over(plain, random);
    try {
      socket.startHandshake();
      return socket;
    } catch (IOException refused) {
      socket.close();
      throw new AssertionError("a good handshake was refused", refused);
    }
  }

  /** A connection before its handshake. */
  SSLSocket over(Socket plain, Random random) throws IOException {
    SSLSocketFactory factory = Objects.requireNonNull(tls).getSocketFactory();
    SSLSocket socket = (SSLSocket) factory.createSocket(plain, "127.0.0.1", port, true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(OFFERS.get(random.nextInt(OFFERS.size())));
    if (random.nextInt(4) == 0) {
      parameters.setProtocols(new String[] {"TLSv1.2"});
    }
    socket.setSSLParameters(parameters);
    return socket;
  }

  static MethodDescriptor method(Random random) {
    while (true) {
      MethodDescriptor method = METHODS.get(random.nextInt(METHODS.size()));
      if (!COSTLY.contains(method.getName()) || random.nextInt(50) == 0) {
        return method;
      }
    }
  }

  /** By service, without its package, and name: "KV/Put". */
  static MethodDescriptor method(String name) {
    return METHODS.stream()
        .filter(method -> (method.getService().getName() + "/" + method.getName()).equals(name))
        .findFirst()
        .orElseThrow();
  }

  static boolean mayWait(MethodDescriptor method) {
    return WAITING.contains(method.getName());
  }

  static String path(MethodDescriptor method) {
    return "/" + method.getService().getFullName() + "/" + method.getName();
  }

  /** A message of the method, most often damaged. */
  static byte[] message(Random random, MethodDescriptor method) {
    byte[] right = new RandomMessages(random).of(method.getInputType()).toByteArray();
    return random.nextInt(5) == 0 ? right : Mutations.of(random, right);
  }
}
