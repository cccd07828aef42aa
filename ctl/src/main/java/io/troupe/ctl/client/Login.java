package io.troupe.ctl.client;

/**
 * Who calls: a user with a password, or a token.
 *
 * @param user empty: none
 * @param token empty: none
 */
public record Login(String user, String password, String token) {
  public static final Login NONE = new Login("", "", "");

  @Override
  public String toString() {
    return user.isEmpty() ? "Login[]" : "Login[" + user + "]";
  }
}
