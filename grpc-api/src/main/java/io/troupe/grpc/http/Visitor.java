package io.troupe.grpc.http;

/**
 * Who sent a request, as far as the connection tells.
 *
 * @param secure whether it came over TLS
 * @param certificateName common name of the verified certificate, if that is a login on its port
 *     (A14); empty otherwise
 */
record Visitor(boolean secure, String certificateName) {
  /** Over a port without TLS. */
  static final Visitor PLAIN = new Visitor(false, "");
}
