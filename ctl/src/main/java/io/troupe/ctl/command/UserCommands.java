package io.troupe.ctl.command;

import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserChangePasswordRequest;
import io.troupe.grpc.api.AuthUserDeleteRequest;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserGetResponse;
import io.troupe.grpc.api.AuthUserGrantRoleRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthUserRevokeRoleRequest;
import io.troupe.grpc.api.auth.UserAddOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Users: add, delete, get, list, passwd, grant-role, revoke-role. */
@Command(name = "user", description = "User related commands")
final class UserCommands {
  private static final String INTERACTIVE =
      "ask for the password on the terminal; false: read it from standard input";

  private final Session session;

  UserCommands(Session session) {
    this.session = session;
  }

  @Command(
      name = "add",
      customSynopsis = "add <user name or user:password> [options]",
      description = "Adds a user")
  void add(
      @Option(
              names = "--interactive",
              arity = "1",
              defaultValue = "true",
              description = INTERACTIVE)
          boolean interactive,
      @Option(
              names = "--new-user-password",
              paramLabel = "string",
              defaultValue = "",
              description = "password of the user")
          String newPassword,
      @Option(
              names = "--no-password",
              arity = "1",
              description = "the user logs in with a certificate only")
          boolean noPassword) {
    String arg = session.onlyArg("user add command requires user name as its argument");
    String user = arg;
    String password = "";
    int colon = arg.indexOf(':');
    if (!noPassword && !newPassword.isEmpty()) {
      password = newPassword;
    } else if (!noPassword && colon < 0) {
      password = interactive ? ask(arg) : session.console().readWord();
    } else if (!noPassword) {
      user = arg.substring(0, colon);
      password = arg.substring(colon + 1);
      if (user.isEmpty()) {
        throw CtlException.arguments("empty user name is not allowed");
      }
    }
    AuthUserAddRequest request =
        AuthUserAddRequest.newBuilder()
            .setName(user)
            .setPassword(password)
            .setOptions(UserAddOptions.newBuilder().setNoPassword(noPassword))
            .build();
    session.printer().userAdd(user, session.client().call(EtcdMethods.USER_ADD, request));
  }

  private String ask(String user) {
    String first = session.console().askPassword("Password of " + user + ": ");
    if (first.isEmpty()) {
      throw CtlException.arguments("empty password");
    }
    String second =
        session.console().askPassword("Type password of " + user + " again for confirmation: ");
    if (!first.equals(second)) {
      throw CtlException.arguments("given passwords are different");
    }
    return first;
  }

  @Command(name = "delete", customSynopsis = "delete <user name>", description = "Deletes a user")
  void delete() {
    String user = session.onlyArg("user delete command requires user name as its argument");
    AuthUserDeleteRequest request = AuthUserDeleteRequest.newBuilder().setName(user).build();
    session.printer().userDelete(user, session.client().call(EtcdMethods.USER_DELETE, request));
  }

  @Command(
      name = "get",
      customSynopsis = "get <user name> [options]",
      description = "Prints the roles of a user")
  void get(
      @Option(names = "--detail", arity = "1", description = "print the permissions of the roles")
          boolean detail) {
    String user = session.onlyArg("user get command requires user name as its argument");
    AuthUserGetResponse response =
        session
            .client()
            .read(EtcdMethods.USER_GET, AuthUserGetRequest.newBuilder().setName(user).build());
    if (!detail) {
      session.printer().userGet(user, response);
      return;
    }
    session.console().line("User: " + user);
    for (String role : response.getRolesList()) {
      session.console().line("");
      AuthRoleGetRequest request = AuthRoleGetRequest.newBuilder().setRole(role).build();
      session.printer().roleGet(role, session.client().read(EtcdMethods.ROLE_GET, request));
    }
  }

  @Command(name = "list", description = "Prints all users")
  void list() {
    if (!session.args().isEmpty()) {
      throw CtlException.arguments("user list command requires no arguments");
    }
    session
        .printer()
        .userList(
            session.client().read(EtcdMethods.USER_LIST, AuthUserListRequest.getDefaultInstance()));
  }

  @Command(
      name = "passwd",
      customSynopsis = "passwd <user name> [options]",
      description = "Changes the password of a user")
  void passwd(
      @Option(
              names = "--interactive",
              arity = "1",
              defaultValue = "true",
              description = INTERACTIVE)
          boolean interactive) {
    String user = session.onlyArg("user passwd command requires user name as its argument");
    String password = interactive ? ask(user) : session.console().readWord();
    AuthUserChangePasswordRequest request =
        AuthUserChangePasswordRequest.newBuilder().setName(user).setPassword(password).build();
    session
        .printer()
        .userPassword(session.client().call(EtcdMethods.USER_CHANGE_PASSWORD, request));
  }

  @Command(
      name = "grant-role",
      customSynopsis = "grant-role <user name> <role name>",
      description = "Grants a role to a user")
  void grantRole() {
    requireTwo("user grant command requires user name and role name as its argument");
    String user = session.args().get(0);
    String role = session.args().get(1);
    AuthUserGrantRoleRequest request =
        AuthUserGrantRoleRequest.newBuilder().setUser(user).setRole(role).build();
    session
        .printer()
        .userGrant(user, role, session.client().call(EtcdMethods.USER_GRANT_ROLE, request));
  }

  @Command(
      name = "revoke-role",
      customSynopsis = "revoke-role <user name> <role name>",
      description = "Revokes a role from a user")
  void revokeRole() {
    requireTwo("user revoke-role requires user name and role name as its argument");
    String user = session.args().get(0);
    String role = session.args().get(1);
    AuthUserRevokeRoleRequest request =
        AuthUserRevokeRoleRequest.newBuilder().setName(user).setRole(role).build();
    session
        .printer()
        .userRevoke(user, role, session.client().call(EtcdMethods.USER_REVOKE_ROLE, request));
  }

  private void requireTwo(String error) {
    if (session.args().size() != 2) {
      throw CtlException.arguments(error);
    }
  }
}
