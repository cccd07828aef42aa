package io.troupe.node.malformed;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import io.troupe.grpc.api.RpcProto;
import io.troupe.grpc.api.election.ElectionProto;
import io.troupe.grpc.api.health.HealthProto;
import io.troupe.grpc.api.lock.LockProto;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A client port and what can be asked there. */
record Target(int port) {
  /** What takes a member's time, not its robustness; seldom drawn. */
  private static final Set<String> COSTLY =
      Set.of("Defragment", "Hash", "HashKV", "UserAdd", "UserChangePassword", "Authenticate");

  /** These may wait for somebody else for as long as their caller does. */
  private static final Set<String> WAITING = Set.of("Lock", "Campaign", "Observe", "Watch");

  private static final List<MethodDescriptor> METHODS = methods();

  private static List<MethodDescriptor> methods() {
    List<MethodDescriptor> all = new ArrayList<>();
    for (FileDescriptor file :
        List.of(
            RpcProto.getDescriptor(),
            ElectionProto.getDescriptor(),
            LockProto.getDescriptor(),
            HealthProto.getDescriptor())) {
      file.getServices().forEach(service -> all.addAll(service.getMethods()));
    }
    return all;
  }

  Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(20_000);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 20_000);
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
