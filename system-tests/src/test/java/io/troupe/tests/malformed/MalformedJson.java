package io.troupe.tests.malformed;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import javax.net.ssl.SSLException;

/** Requests to the JSON gateway with damaged bodies; each must get a response. */
final class MalformedJson {
  private static final int REQUESTS = 100;

  /** Methods that respond without waiting. */
  private static final List<String> PATHS =
      List.of(
          "KV/Range=/v3/kv/range",
          "KV/Put=/v3/kv/put",
          "KV/DeleteRange=/v3/kv/deleterange",
          "KV/Txn=/v3/kv/txn",
          "KV/Compact=/v3/kv/compaction",
          "Lease/LeaseGrant=/v3/lease/grant",
          "Lease/LeaseRevoke=/v3/lease/revoke",
          "Lease/LeaseTimeToLive=/v3/lease/timetolive",
          "Cluster/MemberList=/v3/cluster/member/list",
          "Cluster/MemberAdd=/v3/cluster/member/add",
          "Maintenance/Status=/v3/maintenance/status",
          "Maintenance/Alarm=/v3/maintenance/alarm",
          "Auth/RoleAdd=/v3/auth/role/add",
          "Auth/RoleGrantPermission=/v3/auth/role/grant",
          "Election/Leader=/v3/election/leader");

  private final Target target;

  MalformedJson(Target target) {
    this.target = target;
  }

  int fire(Random random) throws IOException {
    int sent = 0;
    try (Socket socket = target.connect(random)) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (; sent < REQUESTS; sent++) {
        socket.getOutputStream().write(request(random));
        if (!answered(in)) {
          return sent + 1;
        }
      }
    } catch (SocketTimeoutException silent) {
      throw new AssertionError("a JSON request was not answered", silent);
    } catch (EOFException | SocketException | SSLException ended) {
      // The server may end a connection after a bad request.
    }
    return sent;
  }

  private static byte[] request(Random random) throws InvalidProtocolBufferException {
    String[] drawn = PATHS.get(random.nextInt(PATHS.size())).split("=", 2);
    MethodDescriptor method = Target.method(drawn[0]);
    String json = JsonFormat.printer().print(new RandomMessages(random).of(method.getInputType()));
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(5) > 0) {
      body = Mutations.of(random, body);
    }
    if (random.nextInt(50) == 0) {
      body = "[".repeat(10_000).getBytes(StandardCharsets.US_ASCII);
    }
    String head =
        "POST "
            + drawn[1]
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length
            + "\r\n\r\n";
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    out.writeBytes(body);
    return out.toByteArray();
  }

  /** Reads a response; false if the server closes the connection after it. */
  private static boolean answered(InputStream in) throws IOException {
    String head = head(in).toLowerCase(Locale.ROOT);
    int length = head.indexOf("content-length: ");
    if (length >= 0) {
      int end = head.indexOf('\r', length);
      in.skipNBytes(Long.parseLong(head.substring(length + 16, end)));
    } else if (head.contains("transfer-encoding: chunked")) {
      skipChunks(in);
    }
    return !head.contains("connection: close");
  }

  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException();
      }
      head.append((char) next);
    }
    return head.toString();
  }

  private static void skipChunks(InputStream in) throws IOException {
    while (true) {
      StringBuilder size = new StringBuilder();
      for (int next = in.read(); next != '\n'; next = in.read()) {
        if (next < 0) {
          throw new EOFException();
        }
        size.append((char) next);
      }
      int length = Integer.parseInt(size.toString().trim(), 16);
      in.skipNBytes(length + 2L);
      if (length == 0) {
        return;
      }
    }
  }
}
