package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.grpc.api.AuthDisableRequest;
import io.troupe.grpc.api.AuthEnableRequest;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import picocli.CommandLine.Command;

/** Authentication: enable, disable, status. */
@Command(name = "auth", description = "Enable or disable authentication")
final class AuthCommands {
  private static final String ROOT = "root";

  private final Session session;

  AuthCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "enable",
      description = "Enables authentication; grants the role root to the user root")
  void enable() {
    requireNone("auth enable command does not accept any arguments");
    EtcdClient client = session.client();
    AuthEnableRequest request = AuthEnableRequest.getDefaultInstance();
    try {
      var unused = client.call(EtcdMethods.AUTH_ENABLE, request);
    } catch (RpcException e) {
      if (!e.isText("etcdserver: root user does not have root role")) {
        throw e;
      }
      grantRoot(client);
      var unused = client.call(EtcdMethods.AUTH_ENABLE, request);
    }
    session.console().line("Authentication Enabled");
  }

  private static void grantRoot(EtcdClient client) {
    client.call(EtcdMethods.ROLE_ADD, AuthRoleAddRequest.newBuilder().setName(ROOT).build());
    client.call(
        EtcdMethods.USER_GRANT_ROLE,
        AuthUserGrantRoleRequest.newBuilder().setUser(ROOT).setRole(ROOT).build());
  }

  @Command(name = "disable", description = "Disables authentication")
  void disable() {
    requireNone("auth disable command does not accept any arguments");
    var unused =
        session.client().call(EtcdMethods.AUTH_DISABLE, AuthDisableRequest.getDefaultInstance());
    session.console().line("Authentication Disabled");
  }

  @Command(name = "status", description = "Prints whether authentication is enabled")
  void status() {
    requireNone("auth status command does not accept any arguments");
    session
        .printer()
        .authStatus(
            session.client().read(EtcdMethods.AUTH_STATUS, AuthStatusRequest.getDefaultInstance()));
  }

  private void requireNone(String error) {
    if (!session.args().isEmpty()) {
      throw CtlException.arguments(error);
    }
  }
}
