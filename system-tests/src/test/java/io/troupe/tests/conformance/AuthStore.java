package io.troupe.tests.conformance;

import io.troupe.grpc.api.AuthRoleListRequest;
import io.troupe.grpc.api.AuthStatusRequest;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserGetRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.auth.UserAddOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A store without users and roles before each test, with authentication off. */
abstract class AuthStore {
  AuthClient anonymous;
  AuthClient root;
  private final ServedStore store;

  AuthStore(ServedStore store) {
    this.store = store;
    this.anonymous = AuthClient.anonymous(store.client());
    this.root = anonymous;
  }

  @BeforeEach
  void begin() {
    anonymous = AuthClient.anonymous(store.client());
    root = anonymous;
  }

  /** Restores the initial state of the store. */
  @AfterEach
  void forgetAll() {
    if (anonymous.call(AuthClient.STATUS, AuthStatusRequest.getDefaultInstance()).getEnabled()) {
      anonymous.login("root", "pw").disable();
    }
    anonymous
        .call(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance())
        .getUsersList()
        .forEach(anonymous::userDelete);
    anonymous
        .call(AuthClient.ROLE_LIST, AuthRoleListRequest.getDefaultInstance())
        .getRolesList()
        .forEach(anonymous::roleDelete);
  }

  void addUserWithoutPassword(String name) {
    root.call(
        AuthClient.USER_ADD,
        AuthUserAddRequest.newBuilder()
            .setName(name)
            .setOptions(UserAddOptions.newBuilder().setNoPassword(true))
            .build());
  }

  void enable() {
    anonymous.userAdd("root", "pw");
    anonymous.grantRole("root", "root");
    anonymous.enable();
    root = anonymous.login("root", "pw");
  }

  static AuthUserAddRequest user(String name, String password) {
    return AuthUserAddRequest.newBuilder().setName(name).setPassword(password).build();
  }

  static AuthenticateRequest login(String name, String password) {
    return AuthenticateRequest.newBuilder().setName(name).setPassword(password).build();
  }

  static AuthUserGetRequest get(String name) {
    return AuthUserGetRequest.newBuilder().setName(name).build();
  }
}
