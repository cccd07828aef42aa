package io.troupe.ctl.client;

/**
 * Files and switches of TLS. A file name is empty if there is none.
 *
 * @param plainByDefault whether endpoints without a scheme use plaintext if no file is given
 * @param skipVerify whether the certificate of the server is not verified
 */
public record TlsSettings(
    String cert, String key, String cacert, boolean plainByDefault, boolean skipVerify) {

  /** Whether an endpoint without a scheme uses TLS. */
  public boolean isWanted() {
    return !cert.isEmpty() || !key.isEmpty() || !cacert.isEmpty() || !plainByDefault || skipVerify;
  }
}
