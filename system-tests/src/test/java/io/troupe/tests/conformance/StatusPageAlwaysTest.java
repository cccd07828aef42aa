package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The setting status-page = "always". */
class StatusPageAlwaysTest {
  @RegisterExtension
  static final ServedStore STORE =
      ServedStore.create().with("bcrypt-cost", "4").with("status-page", "always");

  @Test
  void pageIsServedWithAuthentication() {
    AuthClient anonymous = AuthClient.anonymous(STORE.client());
    anonymous.userAdd("root", "pw");
    anonymous.roleAdd("root");
    anonymous.grantRole("root", "root");
    anonymous.enable();
    assertThat(new Http1(STORE.target()).get("/").body())
        .contains("authentication</th><td>on</td>");
  }
}
