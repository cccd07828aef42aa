package io.troupe.bench.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.EventLoops;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
import java.util.List;

/** Enables authentication and logs in. */
public final class Login {
  private static final long TIMEOUT_MS = 10_000;
  private static final String ROOT = "root";
  private static final String PASSWORD = "bench";

  private Login() {}

  /**
   * Creates the user root on a fresh server, enables authentication and logs in.
   *
   * @param endpoints of its members
   * @return the same endpoints with root's token
   * @throws IllegalStateException if the server refuses
   */
  public static List<Endpoint> everywhere(EventLoops loops, List<Endpoint> endpoints) {
    try (Connections connection = new Connections(loops, endpoints, 1)) {
      call(
          connection,
          EtcdMethod.USER_ADD,
          AuthUserAddRequest.newBuilder().setName(ROOT).setPassword(PASSWORD).build());
      call(connection, EtcdMethod.ROLE_ADD, AuthRoleAddRequest.newBuilder().setName(ROOT).build());
      call(
          connection,
          EtcdMethod.USER_GRANT_ROLE,
          AuthUserGrantRoleRequest.newBuilder().setUser(ROOT).setRole(ROOT).build());
      call(connection, EtcdMethod.AUTH_ENABLE, AuthEnableRequest.getDefaultInstance());
      Reply reply =
          call(
              connection,
              EtcdMethod.AUTHENTICATE,
              AuthenticateRequest.newBuilder().setName(ROOT).setPassword(PASSWORD).build());
      String token = AuthenticateResponse.parseFrom(reply.body()).getToken();
      return endpoints.stream().map(endpoint -> endpoint.withToken(token)).toList();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a login was answered with something else", e);
    }
  }

  private static Reply call(Connections connection, EtcdMethod method, MessageLite request) {
    return connection.call(method, request.toByteArray(), TIMEOUT_MS);
  }
}
