package io.troupe.grpc.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.grpc.error.GrpcException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PasswordsTest {
  private final Passwords passwords = new Passwords(4, 1);

  private String hash(String password) throws Exception {
    return passwords.hash(password).toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private boolean fits(String user, String hash, String password) throws Exception {
    return passwords.fits(user, hash, password).toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void aPasswordFitsItsHashAlone_A4() throws Exception {
    String hash = hash("secret");
    assertThat(hash).startsWith("$2a$04$");
    assertThat(hash("secret")).isNotEqualTo(hash);
    assertThat(fits("u", hash, "secret")).isTrue();
    assertThat(fits("u", hash, "secret2")).isFalse();
    assertThat(fits("u", hash, "")).isFalse();
    assertThat(fits("u", "", "")).isFalse();
    assertThat(fits("u", "", "secret")).isFalse();
  }

  @Test
  void anEmptyPasswordHasAHashToo_A8() throws Exception {
    String hash = hash("");
    assertThat(fits("u", hash, "")).isTrue();
    assertThat(fits("u", hash, "x")).isFalse();
  }

  @Test
  void hashesOfOthersAreUnderstood() throws Exception {
    // The test vector of OpenBSD's suite.
    assertThat(fits("u", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"))
        .isTrue();
  }

  @Test
  void bytesOfUtf8AreCounted_A8() throws Exception {
    assertThat(fits("u", hash("x".repeat(72)), "x".repeat(72))).isTrue();
    assertThatThrownBy(() -> passwords.hash("\u00e4".repeat(36) + "x"))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("bcrypt: password length exceeds 72 bytes");
    assertThat(fits("u", hash("x".repeat(72)), "x".repeat(73))).isFalse();
  }

  /** What is known is told at once; bcrypt answers later, on another thread. */
  @Test
  void whatFittedOnceIsKnownUntilTheHashIsAnotherOne() throws Exception {
    Passwords slow = new Passwords(12, 1);
    String hash = slow.hash("secret").toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(slow.fits("u", hash, "secret").toCompletableFuture().get(60, TimeUnit.SECONDS))
        .isTrue();
    assertThat(slow.fits("u", hash, "secret").toCompletableFuture()).isCompletedWithValue(true);
    assertThat(slow.fits("u", hash, "wrong").toCompletableFuture()).isNotDone();
    assertThat(fits("u", hash("other"), "secret")).isFalse();
  }
}
