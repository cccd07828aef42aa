package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.text.KeyRanges;
import io.troupe.ctl.text.RawArguments;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.AuthRoleDeleteRequest;
import io.troupe.grpc.api.AuthRoleGetRequest;
import io.troupe.grpc.api.AuthRoleGrantPermissionRequest;
import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthRoleRevokePermissionRequest;
import io.troupe.grpc.api.auth.Permission;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Roles: add, delete, get, list, grant-permission, revoke-permission. */
@Command(name = "role", description = "Role related commands")
final class RoleCommands {
  private static final String EXCLUSIVE = "--from-key and --prefix flags are mutually exclusive";
  private static final String PREFIX = "all keys that start with the key";
  private static final String FROM_KEY = "the key and all keys after it";

  private final Session session;

  RoleCommands(Session session) {
    this.session = session;
  }

  @Command(name = "add", customSynopsis = "add <role name>", description = "Adds a role")
  void add() {
    String role = session.onlyArg("role add command requires role name as its argument");
    AuthRoleAddRequest request = AuthRoleAddRequest.newBuilder().setName(role).build();
    session.printer().roleAdd(role, session.client().call(EtcdMethods.ROLE_ADD, request));
  }

  @Command(name = "delete", customSynopsis = "delete <role name>", description = "Deletes a role")
  void delete() {
    String role = session.onlyArg("role delete command requires role name as its argument");
    AuthRoleDeleteRequest request = AuthRoleDeleteRequest.newBuilder().setRole(role).build();
    session.printer().roleDelete(role, session.client().call(EtcdMethods.ROLE_DELETE, request));
  }

  @Command(
      name = "get",
      customSynopsis = "get <role name>",
      description = "Prints the permissions of a role")
  void get() {
    String role = session.onlyArg("role get command requires role name as its argument");
    AuthRoleGetRequest request = AuthRoleGetRequest.newBuilder().setRole(role).build();
    session.printer().roleGet(role, session.client().read(EtcdMethods.ROLE_GET, request));
  }

  @Command(name = "list", description = "Prints all roles")
  void list() {
    if (!session.args().isEmpty()) {
      throw CtlException.arguments("role list command requires no arguments");
    }
    session
        .printer()
        .roleList(
            session.client().read(EtcdMethods.ROLE_LIST, AuthRoleListRequest.getDefaultInstance()));
  }

  @Command(
      name = "grant-permission",
      customSynopsis = "grant-permission [options] <role name> <permission type> <key> [endkey]",
      description = "Grants a permission (read, write or readwrite) on keys to a role")
  void grantPermission(
      @Option(names = "--prefix", arity = "1", description = PREFIX) boolean prefix,
      @Option(names = "--from-key", arity = "1", description = FROM_KEY) boolean fromKey) {
    List<String> args = session.args();
    if (args.size() < 3) {
      throw CtlException.arguments(
          "role grant command requires role name, permission type, and key [endkey] as its"
              + " argument");
    }
    Permission.Type type =
        switch (args.get(1).toUpperCase(Locale.ROOT)) {
          case "READ" -> Permission.Type.READ;
          case "WRITE" -> Permission.Type.WRITE;
          case "READWRITE" -> Permission.Type.READWRITE;
          default -> throw CtlException.arguments("invalid permission type: " + args.get(1));
        };
    KvCommands.Range range = range(args.subList(2, args.size()), prefix, fromKey);
    AuthRoleGrantPermissionRequest request =
        AuthRoleGrantPermissionRequest.newBuilder()
            .setName(args.get(0))
            .setPerm(
                Permission.newBuilder()
                    .setPermType(type)
                    .setKey(range.key())
                    .setRangeEnd(range.end()))
            .build();
    session
        .printer()
        .roleGrant(args.get(0), session.client().call(EtcdMethods.ROLE_GRANT_PERMISSION, request));
  }

  @Command(
      name = "revoke-permission",
      customSynopsis = "revoke-permission <role name> <key> [endkey]",
      description = "Revokes a permission on keys from a role")
  void revokePermission(
      @Option(names = "--prefix", arity = "1", description = PREFIX) boolean prefix,
      @Option(names = "--from-key", arity = "1", description = FROM_KEY) boolean fromKey) {
    List<String> args = session.args();
    if (args.size() < 2) {
      throw CtlException.arguments(
          "role revoke-permission command requires role name and key [endkey] as its argument");
    }
    KvCommands.Range range = range(args.subList(1, args.size()), prefix, fromKey);
    AuthRoleRevokePermissionRequest request =
        AuthRoleRevokePermissionRequest.newBuilder()
            .setRole(args.get(0))
            .setKey(range.key())
            .setRangeEnd(range.end())
            .build();
    session
        .printer()
        .roleRevoke(
            args.get(0),
            args.get(1),
            RawArguments.decode(range.end()),
            session.client().call(EtcdMethods.ROLE_REVOKE_PERMISSION, request));
  }

  /** An empty key with a flag is the range of all keys. */
  private static KvCommands.Range range(List<String> args, boolean prefix, boolean fromKey) {
    ByteString key = RawArguments.encode(args.get(0));
    if (prefix && fromKey) {
      throw CtlException.arguments(EXCLUSIVE);
    }
    if (key.isEmpty()) {
      return new KvCommands.Range(
          KeyRanges.OPEN, prefix || fromKey ? KeyRanges.OPEN : ByteString.EMPTY);
    }
    if (args.size() > 1) {
      if (prefix || fromKey) {
        throw CtlException.arguments(
            "unexpected endkey argument with " + (prefix ? "--prefix" : "--from-key") + " flag");
      }
      return new KvCommands.Range(key, RawArguments.encode(args.get(1)));
    }
    return new KvCommands.Range(
        key, prefix ? KeyRanges.prefixEnd(key) : fromKey ? KeyRanges.OPEN : ByteString.EMPTY);
  }
}
